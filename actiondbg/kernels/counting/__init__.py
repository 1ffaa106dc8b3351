"""CPU events for each call of a dispatch function of IREE, or of a kernel of a shared library.

May import: errors, support, statistics, tool.
"""
