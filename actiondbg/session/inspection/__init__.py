"""What a stop offers to look at: the stack, the cursor, the IR, and what the action did.

May import: errors, support, protocol, tool, breakpoints, ir, analysis, process.
"""
