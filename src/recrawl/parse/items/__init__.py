"""Items of a listing page, in HTML or JSON.

Pure.
"""
