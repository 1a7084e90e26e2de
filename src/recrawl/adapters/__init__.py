"""One file for each foreign system.

Touches: files.
"""
