"""The price at which a budget is spent.

Pure.
"""
