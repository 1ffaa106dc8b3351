"""The file formats of traces: Chrome's JSON, Perfetto's protobuf, Tracy's JSON, collapsed stacks.

May import: errors to session, recording.format, recording.trace.
"""
