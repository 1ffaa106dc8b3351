"""What a kernel is: element types, operations, configurations and dispatches, as plain data.

May import: actiondbg.errors, and NumPy when an array is asked for.
"""
