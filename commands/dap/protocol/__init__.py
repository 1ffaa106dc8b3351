"""The messages of the Debug Adapter Protocol, and their transport.

May import: errors, support. Structs are named and spelt as in the protocol's specification.
"""
