"""Notifications: what changed, as messages to people, through apprise.

Touches: processes, a store, files, the environment, the clock.
"""
