"""`recrawl listing`: one file per verb.

Touches: files, the terminal.
"""
