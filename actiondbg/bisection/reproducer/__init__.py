"""The reproducer of a culprit: a folder that shows good and bad with the stock tool alone.

May import: errors to process, and bisection's oracles, command runner, result and verdict.
"""
