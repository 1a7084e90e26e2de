"""Histories of sites that are kept in git.

Touches: files, processes.
"""
