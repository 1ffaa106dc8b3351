"""Aliases of attributes and types, aligned between two prints."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from actiondbg.ir.aliases import with_aliases_of
from actiondbg.ir.diff import make_diff

A, B, C = (f"affine_map<(d0, d1) -> ({it})>" for it in ("d0, d1", "d1, d0", "d0"))
BEFORE = f"""\
#map = {A}
#map1 = {B}
module {{
  test.op {{maps = [#map, #map1], text = "#map"}} // #map
}}
"""


def test_swapped_aliases_are_no_change() -> None:
    after = BEFORE.replace(A, "X").replace(B, A).replace("X", B)
    after = after.replace("[#map, #map1]", "[#map1, #map]")
    assert with_aliases_of(BEFORE, after) == BEFORE
    assert make_diff(BEFORE, after, {}, {}).is_empty


def test_a_new_alias_takes_a_free_name() -> None:
    after = BEFORE.replace(f"#map = {A}", f"#map = {C}\n#map2 = {A}").replace("[#map,", "[#map2,")
    after = after.replace("  test.op", "  test.new {map = #map}\n  test.op")
    diff = make_diff(BEFORE, after, {}, {})
    assert [line for line in diff.unified() if line[0] in "+-"] == [
        f"+#map2 = {C}",
        "+  test.new {map = #map2}",
    ]


def test_a_removed_alias_renumbers_nothing() -> None:
    after = BEFORE.replace(f"#map = {A}\n", "").replace("#map1", "#map").replace("[#map, ", "[")
    assert [line for line in make_diff(BEFORE, after, {}, {}).unified() if line[0] in "+-"] == [
        f"-#map = {A}",
        '-  test.op {maps = [#map, #map1], text = "#map"} // #map',
        '+  test.op {maps = [#map1], text = "#map"} // #map',
    ]


def test_aliases_in_definitions_of_aliases() -> None:
    before = f"#map = {A}\n#map1 = {B}\n#layout = #test.l<#map1>\n!t = tensor<4xf32, #layout>\n"
    after = f"#map = {B}\n#layout = #test.l<#map>\n#map1 = {A}\n!t = tensor<4xf32, #layout>\n"
    use = "test.op : !t, #map.attr<1>, #mapper\n"
    assert with_aliases_of(before + use, after + use) == before + use


def test_a_changed_definition_is_shown() -> None:
    after = BEFORE.replace(B, C)
    changed = [line for line in make_diff(BEFORE, after, {}, {}).unified() if line[0] in "+-"]
    assert f"-#map1 = {B}" in changed and f"+#map2 = {C}" in changed


_MAPS = st.lists(st.integers(0, 6), unique=True, max_size=6)


@given(_MAPS, _MAPS)
def test_the_meaning_of_each_use_is_kept(old: list[int], new: list[int]) -> None:
    def text(maps: list[int]) -> str:
        names = ["#map" if at == 0 else f"#map{at}" for at in range(len(maps))]
        heads = [f"{name} = m<{it}>" for name, it in zip(names, maps, strict=True)]
        return "\n".join([*heads, "module {", *(f"  use {name}" for name in names), "}", ""])

    def meanings(text: str) -> list[str]:
        known = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
        return [known[name] for name in re.findall(r"use (#\w+)", text)]

    before, after = text(old), text(new)
    aligned = with_aliases_of(before, after)
    assert meanings(aligned) == meanings(after)
    names = re.findall(r"^(#\w+) = (.*)$", aligned, re.M)
    assert len({name for name, _ in names}) == len(new)
    own = dict(re.findall(r"^(#\w+) = (.*)$", before, re.M))
    for name, it in names:
        assert own.get(name, it) == it
