"""Queries about the past of a run, answered by a replay.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process, session.inspection.
"""
