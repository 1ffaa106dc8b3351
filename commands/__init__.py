"""The command-line front end: subcommands, shell commands, interpreter and rendering.

May import every package of actiondbg.
"""

FAILED, NOT_STARTED = 1, 3  # exit codes
