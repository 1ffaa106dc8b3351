"""The kinds of operations, one module each, and their registry.

May import: actiondbg.kernels.model. A kind is a subclass of Operation; ``register`` adds a user's.
"""
