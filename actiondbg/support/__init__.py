"""Utilities of all layers: globs, atomic writes, scratch directories, interrupts, HTML pages.

May import: errors.
"""
