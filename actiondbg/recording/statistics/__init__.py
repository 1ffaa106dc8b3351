"""The cost of actions: time, and hardware and software events.

May import: errors to session, recording.format, recording.tables.
"""
