"""Objects grouped by how fast they vanish.

Pure.
"""
