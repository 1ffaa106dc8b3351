"""The provider of IREE: its compiler, its runtime, and the configurations of its code generation.

May import: what providers may; iree.runtime only in the kernel's process.
"""
