"""Recordings of passes, made from the IR that a compiler printed: logs and folders of dumps.

May import: errors to session, and the format of recordings.
"""
