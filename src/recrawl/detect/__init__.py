"""Whether two copies of a page differ.

Pure.
"""
