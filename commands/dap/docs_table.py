"""The table of requests in docs/dap.md; ``python -m`` prints it."""

from __future__ import annotations

import sys

import msgspec

from actiondbg.commands.dap.handlers import PREFIX
from actiondbg.commands.dap.requests import HANDLERS


def requests_table() -> str:
    """Return the table of the requests that the protocol lacks."""
    lines = ["| request | arguments | what it does |", "|---|---|---|"]
    for name, handler in sorted(HANDLERS.items()):
        if name.startswith(PREFIX):
            fields = msgspec.structs.fields(handler.arguments)
            words = [f"`{each.encode_name}`{'' if each.required else '?'}" for each in fields]
            lines.append(f"| `{name}` | {', '.join(words)} | {handler.summary} |")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(requests_table())
