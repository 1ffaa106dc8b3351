"""The tables of docs/dap.md; ``python -m`` prints them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec

from actiondbg.commands.dap.declaration import PREFIX
from actiondbg.commands.dap.requests import HANDLERS


def requests_table() -> str:
    """Return the table of the requests that the protocol lacks."""
    rows = (row for name, row in sorted(_rows()) if name.startswith(PREFIX))
    return "".join(["| request | arguments | what it does |\n|---|---|---|\n", *rows])


def _rows() -> Iterator[tuple[str, str]]:
    for name, handler in HANDLERS.items():
        fields = msgspec.structs.fields(handler.arguments)
        words = ", ".join(
            f"`{each.encode_name}`" + ("" if each.required else "?") for each in fields
        )
        yield name, f"| `{name}` | {words} | {handler.summary} |\n"


if __name__ == "__main__":
    sys.stdout.write(requests_table())
