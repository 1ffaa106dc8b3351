"""Questions about what a run did up to now, answered by a replay of it.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process, session.inspection.
"""
