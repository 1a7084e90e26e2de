"""Why a page's next visit is when it is.

Touches: a store, through what it is given.
"""
