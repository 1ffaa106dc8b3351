"""The MCP server: debugging by tools that a language model calls.

May import every package of actiondbg, but no other front end: neither the prompt of the shell nor
commands/cli.
"""
