"""Time travel along the timeline of a run: checkpoints, replays, replacement of the tool.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process, session.inspection.
"""
