"""The lineage of a recorded run, from its changes, clones and symbols.

May import: everything of actiondbg.lineage but its dumps, and actiondbg.recording.
"""
