"""When to sync a listing.

Pure.
"""
