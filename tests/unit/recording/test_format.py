"""The agent and Python declare the same sections of a recording: numbers, spaces and fields."""

from __future__ import annotations

import re

from actiondbg.recording.format.structs import STRUCTS, SectionKind, Space
from actiondbg.tool.shipped import AGENT_SOURCE

HEADER = (AGENT_SOURCE / "record/RecordFile.h").read_text()
# The structs of RecordFile.h, and the sections of which they are the items.
ITEMS = {
    "LocationRow": SectionKind.LOCATIONS,
    "ActionRow": SectionKind.ACTIONS,
    "PatchRow": SectionKind.PATCHES,
    "ReasonRow": SectionKind.REASONS,
    "IRRow": SectionKind.IR,
    "StageRow": SectionKind.STAGES,
    "ContextRow": SectionKind.CONTEXTS,
    "FindingRow": SectionKind.FINDINGS,
}


def _enumerators(name: str) -> list[str]:
    """Return the enumerators of an enum of RecordFile.h, which begins with 1."""
    [body] = re.findall(rf"enum class {name} : uint16_t {{\s*(.*?)\s*}};", HEADER, re.DOTALL)
    first, *others = re.split(r",\s*", body)
    assert first.endswith(" = 1")
    return [first.removesuffix(" = 1"), *others]


def _forms(body: str) -> list[str]:
    """Return the forms of the fields of a struct, such as u4."""
    return [
        f"u{int(bits) // 8}"
        for bits, names in re.findall(r"uint(\d+)_t ([^;]+);", body)
        for _ in names.split(",")
    ]


def test_kinds_of_sections() -> None:
    names = [kind.name.replace("_", "").lower() for kind in SectionKind]
    assert [name.lower() for name in _enumerators("SectionKind")] == names
    assert list(SectionKind) == list(range(1, len(SectionKind) + 1))


def test_spaces_of_strings() -> None:
    assert [name.upper() for name in _enumerators("Space")] == [space.name for space in Space]
    assert list(Space) == list(range(1, len(Space) + 1))


def test_fields_of_items() -> None:
    structs = dict(re.findall(r"struct (\w+Row) {(.*?)}", HEADER, re.DOTALL))
    declared = {ITEMS[name]: _forms(body) for name, body in structs.items()}
    assert declared.keys() == STRUCTS.keys()
    for kind, forms in declared.items():
        assert [field.split(":")[1] for field in STRUCTS[kind].split()] == forms
