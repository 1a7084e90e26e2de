"""A snapshot of a crawl in, answers as values out.

Touches: a store, through what it is given.
"""
