"""The text log of a recording or of a running tool.

May import: errors to session, recording.recording and what it may.
"""
