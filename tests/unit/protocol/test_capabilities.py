"""Requests that an agent cannot serve are refused before they are sent, with the remedy."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from actiondbg import protocol
from actiondbg.errors import CapabilityMissing
from actiondbg.protocol.capabilities import CAPABILITIES, check_capabilities, missing_text
from tests.fakes.agent.fake_stream import HELLO
from tests.paths import ROOT

FULL = msgspec.convert({**HELLO, "pid": 1}, protocol.Hello)


def lacking(name: str, **missing: str) -> protocol.Hello:
    return msgspec.structs.replace(FULL, capabilities=FULL.capabilities - {name}, missing=missing)


BREAKPOINT = protocol.WireBreakpoint(
    id=1, enabled=True, temporary=False, after=False, ignore=0, terms=[], condition=None
)


def breakpoint_of(**fields: Any) -> protocol.SetBreakpoints:
    return protocol.SetBreakpoints(breakpoints=[msgspec.structs.replace(BREAKPOINT, **fields)])


REQUESTS: list[tuple[str, protocol.Request[Any]]] = [
    ("skip", protocol.Resume(control="skip")),
    ("skip", protocol.SetSkips(ordinals=[3])),
    ("skip", protocol.SetPlan()),
    ("print", protocol.Print(what="cursor", path="/x")),
    ("location", breakpoint_of(terms=[protocol.Term(kind="location", path="a", line=1)])),
    ("cursor", protocol.MoveCursor(to="parent")),
    ("outcomes", breakpoint_of(outcome=protocol.OutcomeFilter())),
    ("changes", protocol.GetChanges(nested=False, count=1)),
    ("folds", breakpoint_of(terms=[protocol.Term(kind="fold", glob="*")])),
    ("reasons", breakpoint_of(outcome=protocol.OutcomeFilter(reason="x"))),
    ("fork", protocol.Fork(role="replica")),
    ("watch", breakpoint_of(watch=protocol.Watch(kind="operation", id=1))),
    ("catch", breakpoint_of(catch=protocol.Catch(kind="crash"))),
    ("values", protocol.WriteValueNames(id=1, path="/x")),
    ("lineage", protocol.OpenRecording(path="/x")),
    ("edit", protocol.TryPass(name="cse")),
    ("edit", protocol.SetSkips(ordinals=[], edits=[protocol.Edit(event=1, id=1)])),
    ("legalizations", protocol.OpenLegalizations(path="/x")),
    ("alternatives", protocol.SetAlternative(benefits=[], pipelines=[])),
    ("alternatives", protocol.RunAround(before=["cse"])),
    ("statistics", protocol.GetStatistics()),
]


@pytest.mark.parametrize(("name", "message"), REQUESTS)
def test_a_request_needs_a_capability(name: str, message: protocol.Request[Any]) -> None:
    check_capabilities(FULL, message)
    with pytest.raises(CapabilityMissing) as raised:
        check_capabilities(lacking(name), message)
    text = str(raised.value)
    assert text.startswith(f"The agent in this tool cannot {CAPABILITIES[name].verb}: ")
    assert "actiondbg doctor" in text
    assert text.endswith(".") and "\n" not in text


@pytest.mark.parametrize(
    "message",
    [
        protocol.Resume(control="step"),
        protocol.SetSkips(ordinals=[]),
        breakpoint_of(terms=[protocol.Term(kind="pattern", glob="*")]),
        protocol.GetFrames(),
        protocol.GetStatus(),
    ],
)
def test_a_bare_agent_serves_what_needs_none(message: protocol.Request[Any]) -> None:
    bare = msgspec.structs.replace(FULL, capabilities=frozenset[str]())
    assert check_capabilities(bare, message) is None  # it raises for what is missing


def test_the_reason_of_the_agent_is_told() -> None:
    hello = lacking("fork", fork="the tool has other threads")
    expected = "The agent in this tool cannot fork the tool: the tool has other threads."
    assert missing_text(hello, "fork") == expected


def test_every_capability_is_in_the_protocol_page_and_in_the_agent() -> None:
    section = (ROOT / "docs/protocol.md").read_text().split("**capabilities**")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", section)) >= set(CAPABILITIES)
    source = (ROOT / "actiondbg/agent/engine/Capabilities.cpp").read_text()
    names = source.split("names[] = {")[1].split("};")[0]
    assert set(re.findall(r'"([a-z-]+)"', names)) == set(CAPABILITIES)
