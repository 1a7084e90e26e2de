"""Copies of pages as files: a folder, a table, a database.

Touches: files.
"""
