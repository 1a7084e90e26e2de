"""The dashboard and the HTTP API over a store.

Touches: files, the clock, the network, threads.
"""
