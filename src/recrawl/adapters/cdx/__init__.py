"""Indexes of web archives: CDX, CDXJ, ZipNum and the columnar index of Common Crawl.

Touches: files.
"""
