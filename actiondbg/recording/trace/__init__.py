"""Recordings as traces: Chrome's JSON, Perfetto's protobuf, and what Tracy imports.

``formats`` says what there is, and needs no package; ``writing`` writes it.
"""
