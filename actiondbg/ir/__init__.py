"""MLIR as text and as objects: tokens, trees and outlines of operations, the names of values, the
lexer, printed IR, bindings, HTML, diffs stable under renumbering.

May import: errors, support, protocol.
"""
