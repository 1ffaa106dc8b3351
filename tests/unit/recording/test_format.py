"""The agent and Python declare the same sections of a recording: numbers, spaces and fields."""

from __future__ import annotations

import re

from actiondbg.recording.format.structs import PACKED, STRUCTS, SectionKind, Space
from actiondbg.tool.shipped import AGENT_SOURCE
from tests.elements import some

HEADER = (AGENT_SOURCE / "record/Sections.h").read_text()


def _enumerators(name: str) -> list[str]:
    """Return the enumerators of an enum of Sections.h, which begins with 1."""
    [body] = re.findall(rf"enum class {name} : uint16_t {{\s*(.*?)\s*}};", HEADER, re.DOTALL)
    first, *others = re.split(r",\s*", body)
    assert first.endswith(" = 1")
    return [first.removesuffix(" = 1"), *others]


def _kind(name: str) -> SectionKind:
    return SectionKind[_snake(name).upper()]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _kinds_of(template: str) -> dict[str, SectionKind]:
    """Return the kind of each struct that is the item of a member of Sections."""
    members = re.findall(rf"{template}<(\w+)> \w+{{\s*all, SectionKind::(\w+)}}", HEADER)
    assert members
    return {struct: _kind(kind) for struct, kind in members}


def _fields(body: str) -> list[str]:
    """Return the fields of a struct with their forms, such as row:u4."""
    return [
        f"{_snake(name)}:{sign or 'i'}{int(bits) // 8}"
        for sign, bits, names in re.findall(r"(u?)int(\d+)_t ([^;]+);", body)
        for name in re.split(r",\s*", names)
    ]


def test_kinds_of_sections() -> None:
    assert [_kind(name) for name in _enumerators("SectionKind")] == list(SectionKind)
    assert list(SectionKind) == list(range(1, len(SectionKind) + 1))


def test_spaces_of_strings() -> None:
    assert [name.upper() for name in _enumerators("Space")] == [space.name for space in Space]
    assert list(Space) == list(range(1, len(Space) + 1))


def test_fields_of_items() -> None:
    kinds = {"ActionRow": SectionKind.ACTIONS, **_kinds_of("Rows")}
    structs = dict(re.findall(r"struct (\w+Row) {(.*?)}", HEADER, re.DOTALL))
    declared = {kinds[name]: _fields(body) for name, body in structs.items()}
    assert declared == {kind: fields.split() for kind, fields in STRUCTS.items()}


def test_fields_of_packed_items() -> None:
    kinds = _kinds_of("Packed")
    structs = re.findall(
        r"struct (\w+Item) {\s*struct {(.*?)} near;\s*struct {(.*?)} far;", HEADER, re.DOTALL
    )
    declared: dict[int, tuple[tuple[str, ...], int]] = {}
    for name, near, far in some(structs):
        differences, plain = _fields(near), _fields(far)
        assert {field.split(":")[1] for field in differences} == {"i8"}
        assert {field.split(":")[1] for field in plain} == {"u8"}
        names = tuple(field.split(":")[0] for field in (*differences, *plain))
        declared[kinds[name]] = names, len(differences)
    assert declared == PACKED
