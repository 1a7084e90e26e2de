"""A listing as data: objects, when each was listed, what crawls saw.

Pure.
"""
