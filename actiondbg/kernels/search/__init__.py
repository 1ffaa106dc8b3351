"""Searches for the fastest configuration of an operation.

May import: every other part of actiondbg.kernels.
"""
