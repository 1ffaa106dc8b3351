"""Trials: runs of the frozen tool with a set of skips, made in threads or by Dask workers.

May import: errors to process, and bisection's oracles, candidates and task.
"""
