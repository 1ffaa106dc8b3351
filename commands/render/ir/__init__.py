"""IR on a terminal: printed, as lines around a place, and as what an action changed.

May import: actiondbg below commands, commands.render.
"""
