"""The papers' estimators, one method per file.

Pure.
"""
