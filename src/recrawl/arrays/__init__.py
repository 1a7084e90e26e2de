"""Kernels on flat arrays, independent of what they hold.

Pure.
"""
