"""The files of traces: Chrome's JSON, Perfetto's protobuf, and what Tracy imports.

May import: errors to session, recording.format, recording.trace.
"""
