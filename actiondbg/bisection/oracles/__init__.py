"""Oracles: each judges an output as good, bad or untestable.

May import: errors to process, and bisection's command line, command runner and verdict.
"""
