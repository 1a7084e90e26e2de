"""`recrawl simulate`: the verb and where its worlds and terms come from.

Touches: files, the terminal.
"""
