"""The full-screen view of a session: panes of IR, stack, changes and output above a prompt.

May import: prompt_toolkit, commands.render, commands.interpreter. Only the shell imports it, late.
"""
