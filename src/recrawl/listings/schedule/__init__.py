"""When to synchronise a listing.

Pure.
"""
