"""Disk: what a crawl must find again after any crash, in one SQLite file.

Touches: files, threads.
"""
