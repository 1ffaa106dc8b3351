"""The text log of a recording, and of a run while it goes on.

May import: errors to session, recording.format, recording.tables.
"""
