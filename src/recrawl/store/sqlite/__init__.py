"""The default store: one SQLite file.

Touches: files.
"""
