"""Sources in, tables out: what `estimate`, `trends`, `plan` and `simulate` answer.

The command line and Python ask here, so that both get the same figures. A source is a file, a
store, a frame, or values; a result is a table with page names, and `results.py` has what all share.

Touches: files, the clock.
"""
