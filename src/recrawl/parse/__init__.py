"""Hostile text in, values out.

Pure.
"""
