"""Runs a tool and has its actions recorded.

May import: errors to session, recording.format.
"""
