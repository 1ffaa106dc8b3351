"""The reproducer of a culprit: a folder that shows good and bad with the stock tool alone.

May import: errors to session, and bisection's oracles, report and result.
"""
