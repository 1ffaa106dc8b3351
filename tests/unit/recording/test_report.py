"""Reports of recordings that are written for it: what is in the page, and what it says is not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.elements import some

pytest.importorskip("duckdb")

from actiondbg.recording import open_recording
from tests.fakes.recording.recordings import (
    Action,
    Change,
    Operation,
    fake_recording,
    write_recording,
)
from tests.fakes.recording.report import Page, page_of

NASTY = '</script><script>window.bad = 1</script><!-- "quoted" & <b>'
HOW = ("succeeded", "unchanged", "failed", "skipped", "unfinished")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "small.adbrec"
    return fake_recording(path, 3000, 1, ir="changed", threads=True, events=["cpu-clock", "a:u"])


@pytest.fixture(scope="module")
def page(small: Path) -> Page:
    return page_of(small)


def nasty_recording(path: Path) -> Path:
    operation = Operation(1, NASTY, NASTY, 3, 4, NASTY, NASTY)
    text = f'"a.b"() {{x = "{NASTY}"}} : () -> ()'
    made = Action(
        NASTY,
        NASTY,
        NASTY,
        [NASTY],
        operation=1,
        outcome="succeeded",
        changes=[Change("modified", 1)],
        ir=[(1, text, f"{text} // {NASTY}")],
    )
    failed = Action(NASTY, operation=1, outcome="failed", reasons=[NASTY])
    header = {"argv": ["mlir-opt", NASTY], "cwd": NASTY, "llvm": NASTY}
    return write_recording(path, [made, failed], [operation], header=header, ir="changed")


# --- the page ---------------------------------------------------------------------------------


def test_page_is_complete_and_needs_no_other_file(page: Page) -> None:
    assert not {"link", "img", "iframe", "object", "base"} & set(page.tags)
    assert not {name for name, _ in page.attributes if name.startswith("on") or name == "src"}
    links = {value for name, value in page.attributes if name == "href"}
    assert links and all(link is not None and link.startswith("#") for link in links)
    shown = page.source.replace(page.scripts[0], "")
    assert "http:" not in shown and "https:" not in shown and "url(" not in shown
    assert "@import" not in shown
    policy = dict(page.attributes)["content"]
    assert any(
        name == "content" and value and f"script-src '{page.script_hash}'" in value
        for name, value in page.attributes
    ), policy
    assert "prefers-color-scheme: dark" in shown and "@media print" in shown


def test_anything_in_a_recording_is_only_text(tmp_path: Path) -> None:
    page = page_of(nasty_recording(tmp_path / "nasty.adbrec"))
    assert page.tags.count("script") == 2 and page.tags.count("b") == 0
    assert "<" not in page.scripts[0]
    assert page.text.count("window.bad = 1") >= 3  # the command, the directory, the version
    [group, _] = page.rows("groups")
    assert group["group"] == NASTY and group["full"] == NASTY and group["labels"] == NASTY
    assert page.rows("reasons")[0]["reason"] == NASTY
    assert page.rows("functions")[0]["function"] == NASTY
    assert NASTY in (page.diff(1)[0][2] or "")


def test_names_that_are_no_unicode_and_very_long_ones(tmp_path: Path) -> None:
    long = "x" * 10_000
    actions = [Action("caf\udce9", operation=1), Action(long, operation=1)]
    header = {"argv": ["mlir-opt", "\udce9", long]}
    path = write_recording(tmp_path / "a.adbrec", actions, [Operation(1)], header=header)
    page = page_of(path)
    assert len(page.source) < 200_000
    assert {row["group"] for row in page.rows("groups")} == {"caf\ufffd", f"{'x' * 500} ..."}


def test_top_names_the_run_and_its_end(small: Path, page: Page) -> None:
    for part in (
        "mlir-opt in.mlir --canonicalize",
        "22.1.8",
        "2025-10-09 08:53:20 UTC",
        "by itself, with status 0",
        "3,000 in 0.0",
        "Threads of the tool on",
        str(small),
    ):
        assert part in page.text, part


@pytest.mark.parametrize(
    "ending, killed, words",
    [
        ({"ended": "crash", "signal": 11, "row": 1}, False, "by a crash (SIGSEGV) in action #2"),
        ({"ended": "crash", "signal": 250}, False, "by a crash (signal 250)"),
        ({"ended": "crash"}, False, "by a crash"),
        ({"ended": "exit", "status": 7}, False, "with status 7"),
        ({}, True, "killed, or still running"),
    ],
)
def test_how_it_ended(tmp_path: Path, ending: dict[str, object], killed: bool, words: str) -> None:
    actions = [Action(operation=1), Action(operation=1, duration=None, outcome="unfinished")]
    path = tmp_path / "end.adbrec"
    write_recording(path, actions, [Operation(1)], ending=ending, killed=killed)
    page = page_of(path)
    assert words in page.text
    assert page.actions["duration"][1] == -1


def test_a_recording_without_actions(tmp_path: Path) -> None:
    page = page_of(write_recording(tmp_path / "empty.adbrec"))
    assert page.actions["ordinal"] == [] and page.run["end"] == 0
    assert "The page holds all 0 actions." in page.text


# --- the tables ---------------------------------------------------------------------------------


def test_groups_sum_up_the_actions(small: Path, page: Page) -> None:
    table = open_recording(small).table("actions").to_pylist()
    rows = {(page.run["names"][number][0], row["group"]): row for number, row in _groups(page)}
    assert set(rows) == {(each["tag"], each["name"]) for each in table}
    for key, row in rows.items():
        mine = [each for each in table if (each["tag"], each["name"]) == key]
        outcomes = Counter(each["outcome"] for each in mine)
        assert [row[how] for how in HOW] == [outcomes[how] for how in HOW]
        assert row["calls"] == len(mine)
        assert row["time"] == sum(each["duration_ns"] for each in mine)
        assert row["self"] == sum(each["self_ns"] for each in mine)
        assert row["longest"] == max(each["duration_ns"] for each in mine)
        assert row["changes"] == sum(
            each[kind]
            for each in mine
            for kind in ("inserted", "erased", "replaced", "modified", "moved")
        )
        assert (row["event0"], row["event1"]) == (
            sum(each["cpu_clock"] for each in mine),
            sum(each["a_u"] for each in mine),
        )
        assert row["first"] == min(each["ordinal"] for each in mine)
    assert page.run["events"] == ["cpu-clock", "a:u"]


def _groups(page: Page) -> list[tuple[int, dict[str, object]]]:
    return list(zip(page.run["groups"]["group"], page.rows("groups"), strict=True))


def test_reasons_and_places_are_counted(small: Path, page: Page) -> None:
    recording = open_recording(small)
    table = recording.table("actions").to_pylist()
    name = {each["ordinal"]: each["name"] for each in table}
    told = Counter(
        (each["reason"], name[each["ordinal"]]) for each in recording.table("reasons").to_pylist()
    )
    rows = page.rows("reasons")
    assert {(row["reason"], row["group"]): row["count"] for row in rows} == told
    assert [row["count"] for row in rows] == sorted(told.values(), reverse=True)
    for column, where in (("function", "functions"), ("op", "operations")):
        counts = Counter(each[column] for each in table if each[column] is not None)
        assert {row[column]: row["calls"] for row in page.rows(where)} == counts
    lines = Counter((each["file"], each["line"]) for each in table)
    assert {(row["file"], row["line"]): row["calls"] for row in page.rows("lines")} == lines


def test_the_density_counts_every_action(small: Path, page: Page) -> None:
    table = open_recording(small).table("actions").to_pylist()
    for thread in page.run["density"]["threads"]:
        mine = [each for each in table if each["thread"] == thread["thread"]]
        assert sum(thread["calls"]) == len(mine)
        assert sum(thread["changed"]) == sum(each["changed"] for each in mine)
    assert [thread["thread"] for thread in page.run["density"]["threads"]] == [0, 1, 2]
    assert page.run["end"] == max(each["start_ns"] + each["duration_ns"] for each in table)


def test_nameless_pattern_is_named_by_its_operation(tmp_path: Path) -> None:
    actions = [Action("", operation=1), Action("", "apply-conversion", operation=1)]
    page = page_of(write_recording(tmp_path / "a.adbrec", actions, [Operation(1)]))
    assert {row["group"] for row in page.rows("groups")} == {"(nameless) on arith.addi", ""}


# --- the actions ----------------------------------------------------------------------------------


def test_page_of_a_small_recording_has_all_actions(small: Path, page: Page) -> None:
    table = open_recording(small).table("actions").to_pylist()
    rows = page.rows("actions")
    assert [row["ordinal"] for row in rows] == [each["ordinal"] for each in table]
    for at, (row, each) in enumerate(zip(rows, table, strict=True)):
        around = rows[at - int(row["parent"])] if row["parent"] else {"ordinal": None}
        assert (around["ordinal"], row["thread"], row["group"]) == (
            each["parent"],
            each["thread"],
            each["name"],
        )
        assert (row["start"], row["duration"], row["self"]) == (
            each["start_ns"],
            each["duration_ns"],
            each["self_ns"],
        )
        assert (HOW[row["outcome"]], row["op"], row["file"], row["line"], row["function"]) == (
            each["outcome"],
            each["op"],
            each["file"],
            each["line"],
            each["function"] or "",
        )
    inside = Counter((each["parent"], each["thread"]) for each in table)
    everywhere = Counter(each["parent"] for each in table)
    for row in rows:
        here = inside[row["ordinal"], row["thread"]]
        assert (row["inside"], row["elsewhere"]) == (here, everywhere[row["ordinal"]] - here)
    assert "The page holds all 3,000 actions." in page.text


@pytest.mark.slow
def test_page_of_a_large_recording_reports_what_it_omits(tmp_path: Path) -> None:
    path = fake_recording(tmp_path / "large.adbrec", 60_000, 2, ir="changed")
    page = page_of(path, 0.5)
    assert len(page.source.encode()) <= 500_000
    held = page.actions["ordinal"]
    assert 100 < len(held) < 60_000
    assert f"The page holds {len(held):,} of 60,000 actions: " in page.text
    assert all(distance > 0 for distance in some(page.actions["parent"][1:]))
    table = open_recording(path).table("actions", ["duration_ns"]).to_pylist()
    longest = sorted((-each["duration_ns"], at + 1) for at, each in enumerate(table))
    assert {ordinal for _, ordinal in longest[:100]} <= set(held)
    assert sum(row["calls"] for row in page.rows("groups")) == 60_000
    assert re.search(r"The changes of [\d,]+ of [\d,]+ actions", page.text)
    assert re.search(r"The diffs of [\d,]+ of [\d,]+ actions", page.text)
    assert re.search(r"[\d,]+ of [\d,]+ functions", page.text)
    assert f"{len(held):,} of 60,000 actions" in page.run["searched"]
    # What has a diff or is named is held, so that it can be gone to.
    assert {int(ordinal) for ordinal in page.run["diffs"]["of"]} <= set(held)
    assert {row["first"] for row in page.rows("groups")} <= set(held)
    assert page_of(path, 1).actions["ordinal"] != held


def test_changes_are_listed(tmp_path: Path) -> None:
    operations = [Operation(1), Operation(2, "arith.muli", line=7), Operation(3, "scf.for")]
    changes = [
        Change("inserted", 2),
        Change("replaced", 1, 2),
        Change("erased", 1),
        Change("erased", 3, block=True, guess=True),
    ]
    many = [Change("moved", 2)] * 40
    actions = [
        Action(operation=1, outcome="succeeded", changes=changes),
        Action(operation=2, outcome="succeeded", changes=many),
        Action(operation=2, outcome="failed"),
    ]
    page = page_of(write_recording(tmp_path / "a.adbrec", actions, operations))
    told = page.run["changes"]
    assert list(told["of"]) == ["1", "2"]
    rows = [dict(zip(told["columns"], row, strict=True)) for row in told["of"]["1"]]
    assert [(page.word(row["kind"]), row["operation"], row["by"]) for row in rows] == [
        ("inserted", 2, 0),
        ("replaced", 1, 2),
        ("erased", 1, 0),
        ("erased", 3, 0),
    ]
    assert (page.word(rows[1]["by_op"]), rows[0]["line"]) == ("arith.muli", 7)
    assert [(row["block"], row["guess"]) for row in rows] == [(0, 0)] * 3 + [(1, 1)]
    assert (len(told["of"]["2"]), told["left_out"]) == (30, {"2": 10})
    assert "There are no diffs, because the recording holds no IR" in page.text


# --- diffs ----------------------------------------------------------------------------------------

BEFORE = "func.func @f(%arg0: i32) {\n  %0 = a.b %arg0 : i32\n  %1 = c.d %0 : i32\n  return\n}\n"
AFTER = "func.func @f(%arg0: i32) {\n  %0 = c.d %arg0 : i32\n  return\n}\n"


def _diff_page(path: Path, ir: str, *texts: tuple[int, str | None, str | None]) -> Page:
    action = Action(operation=1, outcome="succeeded", ir=texts)
    return page_of(write_recording(path, [action], [Operation(1), Operation(2)], ir=ir))


def test_the_diff_of_a_function_survives_renumbering(tmp_path: Path) -> None:
    page = _diff_page(tmp_path / "a.adbrec", "function", (1, BEFORE, AFTER))
    changed = [row for row in page.diff(1) if row[0] != " "]
    assert changed == [
        ("-", "  %0 = a.b %arg0 : i32", None),
        ("!", "  %1 = c.d %0 : i32", "  %1 = c.d %arg0 : i32"),
    ]
    lines = page.run["diffs"]["lines"]
    assert any("nv!" in line and line[line.index("nv!") + 1] == "%arg0" for line in lines)
    assert any(line[0::2].count("k") for line in lines)  # an operation's name is a keyword


def test_the_diff_of_operations_keeps_their_numbers(tmp_path: Path) -> None:
    texts = [(1, "%1 = a.b(%5) : (i32) -> (i32)", None), (2, None, "%2 = a.b(%5) : (i32) -> (i32)")]
    page = _diff_page(tmp_path / "a.adbrec", "changed", *texts)
    assert page.diff(1) == [("!", f"{texts[0][1]}", f"{texts[1][2]}")]
    assert "one line per operation" in page.text


@pytest.mark.slow
def test_long_text_is_cut(tmp_path: Path) -> None:
    many = "".join(f"%{n} = a.b() : () -> (i32)\n" for n in range(1000))
    page = _diff_page(tmp_path / "rows.adbrec", "changed", (1, many, None))
    assert page.run["diffs"]["of"]["1"]["left_out"] == 1000 - len(page.diff(1)) > 0
    line = f'"a.b"() {{x = "{"y" * 5000}"}}'
    page = _diff_page(tmp_path / "line.adbrec", "changed", (1, line, None))
    assert re.search(r"y \.\.\. // and 3,0\d\d characters$", page.diff(1)[0][1] or "")
    page = _diff_page(tmp_path / "text.adbrec", "changed", (1, line * 100, None))
    assert page.run["diffs"] == {"lines": [], "of": {}, "skipped": [1]}


def test_action_without_effect(tmp_path: Path) -> None:
    page = _diff_page(tmp_path / "a.adbrec", "function", (1, BEFORE, BEFORE))
    assert page.diff(1) == []
