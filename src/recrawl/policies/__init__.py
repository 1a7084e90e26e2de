"""When to visit a page next: our policy, the papers', the rivals', one a file.

Pure.
"""
