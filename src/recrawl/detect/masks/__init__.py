"""Parts of a page that differ by themselves, learned and left out.

Pure.
"""
