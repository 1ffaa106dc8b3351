"""Kernels run in a child process with limits of time and memory.

May import: actiondbg.kernels.model and errors. ``kernel_process`` is the parent's side; the modules
``fork_server``, ``child``, ``buffers`` and ``faults`` run in other processes.
"""
