"""Rules of rewriting that patterns and passes break, found in recordings of their runs.

May import: suite, recording and lower layers.
"""
