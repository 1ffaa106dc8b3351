"""The front end for people: commands, the interpreter that runs them, and the shell."""
