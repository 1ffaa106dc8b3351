"""What many layers share and none owns: globs, atomic writes, scratch directories, interrupts.

May import: errors.
"""
