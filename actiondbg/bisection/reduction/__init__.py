"""Reduce an input, as long as a predicate over files holds.

May import: errors and support.
"""
