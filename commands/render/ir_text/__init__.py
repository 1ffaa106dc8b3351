"""IR as text for a terminal: the view that all shown IR passes, its lines, marks and diffs.

May import: actiondbg below commands, and render/terminal.
"""
