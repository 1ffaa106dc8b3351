"""The subcommands of the command line, one module each.

May import: actiondbg below commands, commands.interpreter, commands.render, commands.shell.
"""
