"""Kernels run in a child process with limits of time and memory.

May import: actiondbg.kernels.model.
"""
