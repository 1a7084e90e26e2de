"""`recrawl trends`: its verbs and their charts.

Touches: files, the terminal.
"""
