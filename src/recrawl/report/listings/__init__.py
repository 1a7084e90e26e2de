"""Listings as tables and charts.

Pure.
"""
