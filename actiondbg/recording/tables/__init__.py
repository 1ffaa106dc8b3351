"""The tables of a recording: actions, changes, operations, IR, runs.

May import: errors to session, recording.format.
"""
