"""The MLIR inside a Python program: recorded by the program itself, and asserted by its tests.

May import: errors to recording.
"""
