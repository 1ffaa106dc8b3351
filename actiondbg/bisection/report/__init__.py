"""The report of a bisection, as Markdown and as HTML.

May import: errors to session, and bisection's result.
"""
