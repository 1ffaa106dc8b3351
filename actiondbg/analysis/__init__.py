"""Pure functions over attempts and changes: why-not, contrasts, histories, cycles.

May import: errors, support, protocol, tool, breakpoints, ir.
"""
