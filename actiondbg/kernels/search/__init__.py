"""Searches for the fastest configuration of an operation, and of each operation of a program.

May import: every other part of actiondbg.kernels.
"""
