"""Reports about tools: for an author of actiondbg, and as a table of tools by capabilities.

A report for an author has facts of files, of the machine and of trials. A trial compiles a sample
of actiondbg's own, so that there is nothing of the user's IR in a report. Of the environment, it
has the variables of actiondbg that change what an agent does.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from actiondbg.doctor.examination import Examined
from actiondbg.protocol.capabilities import CAPABILITIES
from actiondbg.version import VERSION

_VARIABLES = ("ACTIONDBG_WITHOUT",)
_HOMES = re.compile(r"(?<![\w.~/-])/home/[^/\s:'\"]+")


def markdown_table(examined: Sequence[Examined]) -> str:
    """Return a table with a column for each tool and a row for each capability.

    A missing capability has a footnote with the reason.
    """
    notes: dict[str, list[str]] = {}  # the capabilities that are missing, by reason
    lines = [f"| {' | '.join(row)} |" for row in _rows(examined, notes)]
    problems = {each.problem for each in examined}
    for number, (reason, names) in enumerate(notes.items(), 1):
        lacks = "" if reason in problems else f"The agent lacks {', '.join(names)}: "
        lines += ["", f"[^{number}]: {lacks}{reason.removesuffix('.')}."]
    return "\n".join(lines)


def _rows(examined: Sequence[Examined], notes: dict[str, list[str]]) -> Iterator[list[str]]:
    yield ["capability", *(f"`{each.name}`" for each in examined)]
    yield ["---"] * (len(examined) + 1)
    yield ["LLVM", *(each.llvm or "unknown" for each in examined)]
    for name, capability in CAPABILITIES.items():
        cells = (_cell(each, name, notes) for each in examined)
        yield [f"`{name}`: {capability.verb}", *cells]


def _cell(each: Examined, name: str, notes: dict[str, list[str]]) -> str:
    if each.capabilities is not None and name in each.capabilities:
        return "yes"
    reason = each.missing.get(name, each.problem)
    if reason is None:
        return "unknown"
    names = notes.setdefault(reason, [])
    if f"`{name}`" not in names:
        names.append(f"`{name}`")
    return f"—[^{list(notes).index(reason) + 1}]"


class BuildReport(msgspec.Struct):
    """What an author needs to know about builds."""

    actiondbg: str
    python: str
    kernel: str
    machine: str
    libc: str
    cpus: int
    variables: dict[str, str]  # those of actiondbg that are set
    tools: list[Examined]


def make_report(examined: Sequence[Examined]) -> BuildReport:
    """Return the report about tools that were examined on this machine."""
    return BuildReport(
        actiondbg=VERSION,
        python=platform.python_version(),
        kernel=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        libc=os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        cpus=os.cpu_count() or 1,
        variables={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        tools=list(examined),
    )


def without_homes(text: str) -> str:
    """Return a text in which ``~`` stands for the user's home folder, and for other users'."""
    home = str(Path.home())
    if home != "/":
        text = re.sub(rf"(?<![\w.~/-]){re.escape(home)}(?![\w.-])", "~", text)
    return _HOMES.sub("~", text)
