"""Network: one request, one answer. Redirects are told, not followed.

Touches: the network.
"""
