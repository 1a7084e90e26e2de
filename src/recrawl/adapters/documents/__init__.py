"""PDF and Office documents as HTML, made in a process of its own.

Touches: processes.
"""
