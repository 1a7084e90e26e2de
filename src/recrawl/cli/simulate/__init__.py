"""`recrawl simulate`: one verb per kind of world, their common options, and the runs.

Touches: files, the terminal.
"""
