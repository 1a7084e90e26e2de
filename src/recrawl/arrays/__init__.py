"""Kernels on flat arrays that know nothing of pages.

Pure.
"""
