"""What a store writes and reads, in SQL that every backend understands.

One module for each group of tables. `database` says what a backend adds where databases differ.

Touches: a database, through what it is given.
"""
