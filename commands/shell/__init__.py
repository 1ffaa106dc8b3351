"""The commands of the shell, one module a topic, and the shell itself over cmd2.

May import: actiondbg below commands, commands.interpreter, commands.render.
"""
