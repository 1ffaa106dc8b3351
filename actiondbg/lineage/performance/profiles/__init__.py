"""Run-time profiles: one module for each format, and the one that reads a file of any format.

May import: errors, support.
"""
