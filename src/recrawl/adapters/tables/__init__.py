"""Tables in files: CSV, JSON lines and Parquet, read and written.

Touches: files.
"""
