"""Kernels run in a child process with limits of time and memory.

May import: actiondbg.kernels.model and errors. ``kernel_process`` is the parent's side; the modules
``fork_server`` and ``buffers`` run in other processes, too.
"""
