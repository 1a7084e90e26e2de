"""The reasons for a page's next visit in sentences and as one object.

Pure.
"""
