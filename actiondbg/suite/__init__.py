"""Many runs: their recordings in one folder, an index over them, and coverage.

May import recording and the layers below it.
"""
