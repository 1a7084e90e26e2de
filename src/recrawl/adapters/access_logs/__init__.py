"""Access logs of web servers, proxies and content delivery networks.

Touches: files.
"""
