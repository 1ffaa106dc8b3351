"""The tools: each translates its arguments into a call of the API or of a command of the shell.

Nothing here knows the SDK of MCP.
"""
