"""The tables of a recording: actions, changes, operations, reasons, IR.

May import: errors to session, recording.format.
"""
