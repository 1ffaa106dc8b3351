"""What is written from the fields of a stop: the table of docs/protocol.md, and golden messages.

    python -m tests.unit.protocol.stop_pages

writes both anew.
"""

from __future__ import annotations

import inspect
import json
import re

import msgspec

from actiondbg import protocol
from tests.paths import GOLDEN, ROOT

PAGE = ROOT / "docs/protocol.md"
MESSAGES = GOLDEN / "protocol.jsonl"
_HEAD = "| field | what it is |\n|---|---|\n"


def page_with_table(page: str) -> str:
    """Return the page with the table of the fields."""
    start = page.index(_HEAD, page.index("## The fields of a stop\n"))
    end = page.index("\n## ", start)
    described = inspect.getdoc(protocol.StopFields) or ""
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", described, re.MULTILINE)
    texts = {name: re.sub(r"\s+", " ", text) for name, text in entries}
    rows = "".join(
        f"| `{field.encode_name}` | {_on_the_wire(texts[field.name])} |\n"
        for field in msgspec.structs.fields(protocol.Stopped)
        if field.name in protocol.StopFields.__struct_fields__
    )
    return f"{page[:start]}{_HEAD}{rows}{page[end:]}"


def _on_the_wire(text: str) -> str:
    """Return the description of a field with JSON's words."""
    return text.removesuffix(".").replace("``", "`").replace("None", "null")


def whole_messages(lines: str) -> str:
    """Return the golden messages with each field of a stop, which the agent always sends."""
    return "".join(_whole(json.loads(line)) for line in lines.splitlines())


def _whole(one: dict[str, str]) -> str:
    if one["method"] == "stopped":
        message = json.loads(one["line"])
        stopped = msgspec.convert(message["params"], protocol.Stopped)
        message["params"] = msgspec.to_builtins(stopped)
        one["line"] = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(one, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))
    MESSAGES.write_text(whole_messages(MESSAGES.read_text()))
