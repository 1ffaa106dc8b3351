"""Kernels cut out of a program: its linalg operations in groups, and their references.

May import: actiondbg.kernels.model and errors. Needs MLIR's Python bindings.
"""
