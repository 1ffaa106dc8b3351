"""``actiondbg kernels COMMAND``: the commands on kernels, one module each.

May import: the options of subcommands, the renderers, and actiondbg.kernels. The list of the
commands is in ``command_list``: a function ``run`` here would hide the module of that name.
"""
