"""Answers about lineages as text, JSON and HTML.

May import: everything below the commands, and the modules of rendering.
"""
