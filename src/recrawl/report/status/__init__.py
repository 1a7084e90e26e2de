"""The status of a crawl in sentences and as one object.

Pure.
"""
