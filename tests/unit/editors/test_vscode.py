"""The extension of VS Code names what the server declares."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from actiondbg.commands.dap.debuggee import AttachRequestArguments, LaunchRequestArguments
from actiondbg.commands.dap.handlers import PREFIX
from actiondbg.commands.dap.protocol import Arguments
from actiondbg.commands.dap.requests import HANDLERS
from actiondbg.version import VERSION
from tests.elements import some
from tests.paths import ROOT

FOLDER = ROOT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text())
SOURCES = "\n".join(file.read_text() for file in sorted((FOLDER / "src").glob("*.ts")))
# The editor, the extension and the server set these themselves.
UNSEEN = {"noDebug", "irDocument", "process", "token"}


@pytest.mark.parametrize(
    ("name", "kind"), [("launch", LaunchRequestArguments), ("attach", AttachRequestArguments)]
)
def test_configurations_have_the_fields_of_the_server(name: str, kind: type[Arguments]) -> None:
    (debugger,) = MANIFEST["contributes"]["debuggers"]
    attributes = debugger["configurationAttributes"][name]
    fields = {each.encode_name: each for each in msgspec.structs.fields(kind)}
    assert set(attributes["properties"]) == set(fields) - UNSEEN
    required = {name for name, each in fields.items() if each.required}
    assert set(attributes.get("required", [])) == required
    defaults = {
        name: each["default"]
        for name, each in attributes["properties"].items()
        if "default" in each and name != "stopOnEntry"  # which the extension adds
    }
    wire = json.loads(msgspec.json.encode({name: fields[name].default for name in some(defaults)}))
    assert wire == defaults


def test_requests_are_declared() -> None:
    asked = re.findall(r'ask<\w+>\((?:session|activeSession\(\)), "(\w+)"(.*)', SOURCES)
    sent = [*asked, *re.findall(r'resume\("(\w+)"(.*)', SOURCES)]
    names = {name for name, _ in some(sent)}
    assert {"ir", "diff", "whyNot", "reverseNext", "bisect", "pipeline"} <= names
    for name, rest in some(sent):
        handler = HANDLERS[f"{PREFIX}{name}"]
        words = re.search(r"\{ (.*) \}", rest.replace("{}", ""))
        given: set[str] = (
            set() if words is None else {each.split(":")[0] for each in words[1].split(", ")}
        )
        assert given <= {each.encode_name for each in msgspec.structs.fields(handler.arguments)}


def test_commands_are_registered() -> None:
    declared = {each["command"] for each in MANIFEST["contributes"]["commands"]}
    registered = set(re.findall(r'^ +\["(\w+)", ', SOURCES, re.MULTILINE))
    assert declared == {f"actiondbg.{name}" for name in registered}
    shown = {each["command"] for menu in MANIFEST["contributes"]["menus"].values() for each in menu}
    assert shown <= declared


def test_views_are_registered() -> None:
    views = {each["id"] for place in MANIFEST["contributes"]["views"].values() for each in place}
    assert views == set(re.findall(r'"(actiondbg\.\w+)"(?=, (?:async|\w+Rows\)))', SOURCES))


def test_the_version_is_that_of_the_debugger() -> None:
    assert MANIFEST["version"] == VERSION
