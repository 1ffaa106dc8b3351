"""The kinds of operations, one module each, and their registry.

A kind is a subclass of Operation; ``register`` adds a user's.
May import: actiondbg.kernels.model and programs.
"""
