"""A store as a source for verbs that read files.

Touches: a store, through what it is given.
"""
