"""What stops the tool: SPEC, conditions, outcome filters, watches, catches, and the list of them.

May import: errors, support, protocol.
"""
