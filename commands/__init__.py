"""The front end for people: commands, the interpreter that runs them, and the shell."""

FAILED, NOT_STARTED = 1, 3  # exit codes
