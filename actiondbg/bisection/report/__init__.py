"""The report of a bisection, as Markdown and as HTML.

May import: errors to process, and bisection's reproducer and result.
"""
