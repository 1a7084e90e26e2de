"""What changed between two versions of a page.

Pure.
"""
