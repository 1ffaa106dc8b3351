"""The command-line front end: subcommands, shell commands, interpreter and rendering.

May import every package of actiondbg.
"""

FAILED, NOT_STARTED = 1, 3  # exit codes

_CLI = "actiondbg.commands.cli"
SUBCOMMANDS = {  # their modules
    "annotate": f"{_CLI}.annotate",
    "bisect": f"{_CLI}.bisect",
    "cost": f"{_CLI}.cost",
    "explain": f"{_CLI}.explain",
    "export": f"{_CLI}.export",
    "import": f"{_CLI}.imports",
    "lineage": f"{_CLI}.lineage",
    "log": f"{_CLI}.log",
    "open": f"{_CLI}.open",
    "query": f"{_CLI}.query",
    "record": f"{_CLI}.record",
    "report": f"{_CLI}.report",
    "stat": f"{_CLI}.stat",
    "trace": f"{_CLI}.trace",
    "track": f"{_CLI}.track",
    "whatif": f"{_CLI}.whatif",
}
