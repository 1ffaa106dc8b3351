"""A debugged program: the live session, its collaborators, and the Protocol of all sessions.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process.
"""
