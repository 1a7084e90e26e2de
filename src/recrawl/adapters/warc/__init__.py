"""WARC files: everything that a crawl fetched, for archives.

Touches: files.
"""
