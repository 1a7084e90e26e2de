"""A slot of a store as a store of its own: only the pages and hosts of the slot, numbered densely.

A worker opens each slot that it holds as if there were nothing else, so a crawl knows nothing of
slots. In the tables, numbers are those of the whole store.

Touches: a database, through what it is given.
"""
