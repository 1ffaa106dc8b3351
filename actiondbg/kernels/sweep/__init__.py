"""Sweeps: many dispatches generated, compiled, verified and profiled, one row each.

May import: every other part of actiondbg.kernels but search.
"""
