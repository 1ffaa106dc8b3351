"""Recording a run: starts a tool whose agent writes a recording.

May import: errors to session, recording.format.
"""
