"""What pages and calls show, as plain values.

Touches: a store.
"""
