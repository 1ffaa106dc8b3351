"""Makes an input small, by operations, modules or lines.

May import: errors, support, ir.
"""
