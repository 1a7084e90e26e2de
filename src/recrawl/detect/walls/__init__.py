"""Answers with status 200 that are not the page.

Pure.
"""
