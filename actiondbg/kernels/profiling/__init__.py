"""Profiling of kernels: times in turn, and the peaks of the machine.

May import: actiondbg.kernels.execution, .model, .providers, .results, actiondbg.tool.
"""
