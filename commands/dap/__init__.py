"""The server of the Debug Adapter Protocol, for VS Code and other editors.

May import: commands.interpreter, commands.render, and every package of actiondbg below commands.
"""
