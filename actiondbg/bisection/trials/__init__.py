"""Trials: runs of the tool with a set of skips, made here or on a cluster, and their verdicts.

May import: errors to process, and bisection's search, oracles and result.
"""
