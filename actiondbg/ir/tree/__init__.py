"""The operations in a text of IR: any text as a tree, printed text as an outline.

Neither needs a tool or a dialect: a tree goes by brackets (``scanner.scan``), an outline by
indentation.
"""
