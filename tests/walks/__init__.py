"""Random walks through sessions of the real front end, which state what holds after any of them.

``python -m tests.walks N SEED`` runs N walks. May import all of actiondbg's tests and fakes.
"""
