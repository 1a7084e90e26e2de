"""`recrawl.toml`: text in, checked values out.

Pure.
"""
