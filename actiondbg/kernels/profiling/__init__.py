"""Profiling of kernels: times in turn, and the peaks of the machine.

May import: actiondbg.kernels.model, execution, providers, results and verification;
actiondbg.tool.
"""
