"""The command-line front end: subcommands, shell commands, interpreter and rendering.

``actiondbg/commands`` is a link to this folder, so its modules are ``actiondbg.commands...``.
May import every package of actiondbg.
"""

FAILED, BAD_USAGE, NOT_STARTED = 1, 2, 3  # exit codes

_CLI = "actiondbg.commands.cli"
_NAMES = (
    *("annotate", "bisect", "compare", "cost", "dap", "doctor", "explain", "lineage", "lint"),
    *("log", "mcp", "query", "record", "report", "stat", "suite", "trace", "track", "validate"),
    "whatif",
)
SUBCOMMANDS = {  # their modules, each with a function run or the one named
    **{name: f"{_CLI}.{name}" for name in _NAMES},
    "connect": f"{_CLI}.debug:connect_",
    "export": f"{_CLI}.query:export_",
    "import": f"{_CLI}.imports",
    "kernels": f"{_CLI}.kernels.command_list",
    "kernels bisect": f"{_CLI}.kernels.bisect",
    "kernels compile": f"{_CLI}.kernels.sweep_commands:compile_kernels",
    "kernels count": f"{_CLI}.kernels.count",
    "kernels generate": f"{_CLI}.kernels.sweep_commands:generate_kernels",
    "kernels judge": f"{_CLI}.kernels.judge",
    "kernels profile": f"{_CLI}.kernels.sweep_commands:profile_kernels",
    "kernels report": f"{_CLI}.kernels.report",
    "kernels run": f"{_CLI}.kernels.sweep_commands:run_kernels",
    "kernels search": f"{_CLI}.kernels.search",
    "kernels tune": f"{_CLI}.kernels.tune",
    "kernels verify": f"{_CLI}.kernels.sweep_commands:verify_kernels",
    "open": f"{_CLI}.debug:open_",
    "suite coverage": f"{_CLI}.suite:coverage_",
    "suite list": f"{_CLI}.suite:list_",
    "suite merge": f"{_CLI}.suite:merge_",
    "suite record": f"{_CLI}.suite:record",
}
