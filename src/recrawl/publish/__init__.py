"""Out to users: the change feed, copies of pages, exports.

Touches: files, the clock.
"""
