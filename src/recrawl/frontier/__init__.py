"""What to visit now, given a policy, a budget and the time.

Pure.
"""
