"""How a crawl stands: freshness, cost, targets, calibration.

Touches: a store, through what it is given.
"""
