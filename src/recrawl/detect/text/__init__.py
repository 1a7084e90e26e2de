"""A page as the text that a reader sees.

Pure.
"""
