"""Pure functions over attempts and changes: why-not, the history of an operation, cycles.

May import: errors, support, protocol, tool, breakpoints, ir.
"""
