"""Published models of arrivals and lifetimes, one per file.

Pure.
"""
