"""Whole programs, compiled with the configurations that searches of their operations found.

May import: every other part of actiondbg.kernels.
"""
