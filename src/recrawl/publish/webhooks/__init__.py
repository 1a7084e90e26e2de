"""Webhooks: events of the change feed, posted to programs elsewhere.

Touches: the network, a store, files, the environment, the clock.
"""
