"""What a bisection may skip: the record of a run, the schemes of candidates, and the user's filter.

May import: errors to protocol, and bisection's result and verdict.
"""
