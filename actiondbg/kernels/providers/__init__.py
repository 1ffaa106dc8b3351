"""Providers: the compilers of kernels. One module or folder each; ``register`` adds a user's.

May import: actiondbg.kernels.model, programs and execution.
"""
