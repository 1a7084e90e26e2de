"""Worlds that change, and what visits show of them.

Pure.
"""
