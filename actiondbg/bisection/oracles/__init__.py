"""What judges an output as good, bad or untestable, in Python and in the words of a shell.

May import: errors to process, and bisection's result and command line.
"""
