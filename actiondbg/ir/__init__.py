"""MLIR as text and as objects: lexer, printed IR, bindings, HTML, diffs stable under renumbering.

May import: errors, support, protocol.
"""
