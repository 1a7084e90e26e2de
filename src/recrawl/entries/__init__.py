"""Values that a store writes and reads, and the two protocols of a store.

Pure.
"""
