"""Differences between versions: for a terminal, for scripts, as a page.

Pure.
"""
