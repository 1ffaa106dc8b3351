"""MLIR as text and as objects: lexer, printed IR, bindings, HTML, and diffs of renumbered values.

May import: errors, support, protocol.
"""
