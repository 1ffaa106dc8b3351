"""One running tool: its launch, streams and end, its forks, checkpoints and timelines.

May import: errors, support, protocol, tool, breakpoints, ir, analysis.
"""
