"""Whether the program before and after an action does the same: proof and execution.

Imports the rooms of bisection and recordings, and no front end.
"""
