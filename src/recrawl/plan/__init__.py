"""Rates, weights and a budget in; visits a day, value and price out.

Pure.
"""
