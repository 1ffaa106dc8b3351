"""The command interpreter, free of cmd2: declarations, parsing, completion, help, execution.

May import: actiondbg below commands, commands.render.
"""
