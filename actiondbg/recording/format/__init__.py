"""The file format .adbrec: header, chunks, sections, items and strings.

May import: errors to session.
"""
