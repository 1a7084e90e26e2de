"""A store in a PostgreSQL database, for a crawl that outgrows one machine: the extra `postgres`.

Touches: the network.
"""
