"""The subcommands of ``actiondbg suite``, one module each.

May import what the other subcommands may.
"""
