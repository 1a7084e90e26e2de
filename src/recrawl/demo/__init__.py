"""A live site on loopback whose changes are known, crawled for real.

Touches: the network, files and a store.
"""
