"""Two runs compared, or two suites: which IR differs at the end, and by which action first.

May import: recording, suite and lower layers.
"""
