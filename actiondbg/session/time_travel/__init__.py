"""Movement along the timeline of a run: checkpoints, replays, and forks that become the tool.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process, session.inspection.
"""
