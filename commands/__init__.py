"""The command-line front end: subcommands, shell commands, interpreter and rendering.

May import every package of actiondbg.
"""

FAILED, NOT_STARTED = 1, 3  # exit codes

_CLI = "actiondbg.commands.cli"
SUBCOMMANDS = {  # their modules, each with a function run or the one named
    "annotate": f"{_CLI}.annotate",
    "bisect": f"{_CLI}.bisect",
    "compare": f"{_CLI}.compare",
    "connect": f"{_CLI}.connect",
    "cost": f"{_CLI}.cost",
    "dap": f"{_CLI}.dap",
    "doctor": f"{_CLI}.doctor",
    "explain": f"{_CLI}.explain",
    "export": f"{_CLI}.export",
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
    "lineage": f"{_CLI}.lineage",
    "lint": f"{_CLI}.lint",
    "log": f"{_CLI}.log",
    "mcp": f"{_CLI}.mcp",
    "open": f"{_CLI}.open",
    "query": f"{_CLI}.query",
    "record": f"{_CLI}.record",
    "report": f"{_CLI}.report",
    "stat": f"{_CLI}.stat",
    "trace": f"{_CLI}.trace",
    "suite": f"{_CLI}.suite.command_list",
    "suite coverage": f"{_CLI}.suite.coverage",
    "suite list": f"{_CLI}.suite.list",
    "suite merge": f"{_CLI}.suite.merge",
    "suite record": f"{_CLI}.suite.record",
    "track": f"{_CLI}.track",
    "validate": f"{_CLI}.validate",
    "whatif": f"{_CLI}.whatif",
}
