"""Sites that list objects: how objects arrive and vanish, and how a copy of the list decays.

Pure.
"""
