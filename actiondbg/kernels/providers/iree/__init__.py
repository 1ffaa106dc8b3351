"""The provider of IREE: its compiler, its runtime, and the configurations of its code generation.

May import: what providers may; iree.runtime only in the child process or when a device is sought.
"""
