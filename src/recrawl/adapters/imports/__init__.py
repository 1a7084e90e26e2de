"""Visits that other systems wrote down: which sources there are, and what is read from them.

Touches: files.
"""
