"""Search that knows a predicate only: a binary search over prefixes, and delta debugging.

May import: errors, support, bisection.result.
"""
