"""The command line: one file a verb.

Touches: everything a person asks for.
"""
