"""What a file is: a program, the object that holds MLIR, its symbols, version and headers.

May import: errors, support, tool.elf.
"""
