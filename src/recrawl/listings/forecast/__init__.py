"""What a copy of a listing will be worth: forecasters and their backtest.

Pure.
"""
