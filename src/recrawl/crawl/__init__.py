"""The loop: what is due is visited, politely, and written down.

Touches: the clock, the network and a store, through the rooms that do.
"""
