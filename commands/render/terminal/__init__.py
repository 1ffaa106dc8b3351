"""The terminal: redirection, the pager, and the line of a wait.

May import: actiondbg below commands.
"""
