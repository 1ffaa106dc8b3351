"""Verification of kernels against NumPy: operands, references, tolerances and the map of errors.

May import: actiondbg.kernels.model, execution, providers, results and generated.
"""
