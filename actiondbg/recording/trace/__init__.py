"""Traces of recordings: the selection of slices, their labels, flows and nesting.

May import: errors to session, recording.capture, recording.format, recording.query.
"""
