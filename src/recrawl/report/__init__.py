"""Values in; tables and charts out, as plain values.

Pure.
"""
