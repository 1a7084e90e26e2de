"""Charts as Vega-Lite values.

Pure.
"""
