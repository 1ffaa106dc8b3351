"""Verification of kernels against NumPy: operands, references, tolerances and the map of errors.

May import: actiondbg.kernels.model, execution and results.
"""
