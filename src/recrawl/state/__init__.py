"""All that a crawl knows beside the tables of its frontier: what was learned, whom to trust.

Touches: a store, through what it is given.
"""
