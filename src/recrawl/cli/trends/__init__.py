"""`recrawl trends`: the verb, its tables and its pictures.

Touches: files, the terminal.
"""
