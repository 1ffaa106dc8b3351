"""Results as text for people and as JSON.

May import: actiondbg below commands.
"""
