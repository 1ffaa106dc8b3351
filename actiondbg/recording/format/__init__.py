"""The format .adbrec: its header, chunks, sections and strings, read piece by piece.

May import: errors to session.
"""
