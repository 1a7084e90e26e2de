"""The policies of papers and of other crawlers, by kind of rule.

Pure.
"""
