"""Search over a predicate, without a tool: a binary search over prefixes, and delta debugging.

May import: bisection's verdict.
"""
