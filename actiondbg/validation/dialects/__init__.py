"""The meaning of operations, by dialect, for every domain of scalars.

Imports the machine and the plain objects of ``validation``.
"""
