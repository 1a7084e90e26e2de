"""One HTTP request and its response, over aiohttp: within limits, and only where it may go.

Touches: the network.
"""
