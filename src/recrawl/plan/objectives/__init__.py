"""What a fresh copy is for: five objectives, one per file.

Pure.
"""
