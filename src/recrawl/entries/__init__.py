"""What is written down and read back, as values, and the protocols of a store over them.

Pure.
"""
