"""The network: one request, one response; and the polite client over it.

Touches: the network.
"""
