"""Our policy: section clocks, rates that may move, a value per page.

Pure.
"""
