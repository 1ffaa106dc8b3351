"""Declared commands without cmd2: words, options, completion, help, and what runs a line.

May import: actiondbg below commands, commands.render.
"""
