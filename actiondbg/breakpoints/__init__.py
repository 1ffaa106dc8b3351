"""Breakpoints, watches and catches, and their languages: SPEC, conditions, outcome filters.

May import: errors, support, protocol.
"""
