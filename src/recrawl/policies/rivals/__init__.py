"""The papers' policies and those of other crawlers, one per file.

Pure.
"""
