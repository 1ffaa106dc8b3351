"""The parts of docs/mcp.md that follow from the server: the tables, and the answers of calls."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

import anyio

from actiondbg.commands.mcp.prompts import PROMPTS
from actiondbg.commands.mcp.restrictions import MEANINGS
from actiondbg.commands.mcp.tools import TOOLS
from tests.paths import ROOT
from tests.tool.mcp.servers import connected

PAGE = ROOT / "docs/mcp.md"
_CALL = re.compile(r"^> (\w+) (\{.*\})\n", re.M)
_BLOCK = re.compile(r"^```text\n(> .*?)^```$", re.M | re.S)
_SECONDS = re.compile(r"\b\d+\.\d s\b")


def updated(page: str, tool: str) -> str:
    """Return the page with its tables and answers as the server has them now.

    Args:
        page: the text.
        tool: the path of mlir-opt.
    """
    for name, table in _tables().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return _BLOCK.sub(lambda block: f"```text\n{_answered(block[1], tool)}```", page)


def comparable(page: str) -> str:
    """Return a page without its durations."""
    return _SECONDS.sub("N s", page)


def blocks(page: str) -> list[str]:
    """Return the transcripts of a page."""
    return [block[1] for block in _BLOCK.finditer(page)]


def _tables() -> dict[str, str]:
    tools = [
        f"| `{each.name}` | {_escaped(each.about)} | {', '.join(_arguments(each.name))} |"
        for each in TOOLS.values()
        if each.listed
    ]
    allowed = [f"| `{name}` | {meaning} |" for name, meaning in MEANINGS.items()]
    prompts = [
        f"| `{each.name}` | {each.about} | {', '.join(f'`{one}`' for one in each.arguments)} |"
        for each in PROMPTS.values()
    ]
    return {
        "tools": "\n".join(["| tool | does | arguments |", "|---|---|---|", *tools]),
        "permissions": "\n".join(["| permission | permits |", "|---|---|", *allowed]),
        "prompts": "\n".join(["| prompt | job | arguments |", "|---|---|---|", *prompts]),
    }


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _arguments(tool: str) -> list[str]:
    return [f"`{name}`" for name in TOOLS[tool].kind.__struct_fields__ if name != "session"]


def _answered(block: str, tool: str) -> str:
    """Return a transcript with the answers to its calls."""
    calls = _CALL.findall(block)
    lines: list[str] = []

    async def run(directory: Path) -> None:
        words = ("--allow", "execute", tool)
        async with connected("stdio", directory, *words) as talk:
            for name, arguments in calls:
                given = json.loads(arguments)
                if "command" in given:
                    given["command"][0] = tool
                answered = await talk.ask(name, **given)
                lines.append(f"> {name} {arguments}\n{answered.text}\n")

    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "work"
        shutil.copytree(ROOT / "examples", directory)
        anyio.run(run, directory)
    return "".join(lines)
