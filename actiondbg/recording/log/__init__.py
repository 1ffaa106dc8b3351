"""The text log of a recording or of a running tool.

May import: errors to session, recording.format, recording.tables.
"""
