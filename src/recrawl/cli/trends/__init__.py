"""`recrawl trends`: the verb, its tables and its charts.

Touches: files, the terminal.
"""
