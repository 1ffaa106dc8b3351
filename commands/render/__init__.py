"""Rendering of results as text and as JSON.

May import: actiondbg below commands.
"""
