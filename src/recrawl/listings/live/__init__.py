"""A listing in a live crawl: judging what a sync found and when the next is due.

Pure.
"""
