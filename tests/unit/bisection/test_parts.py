"""The parts of a bisection that need no tool: the command line, the candidates, what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actiondbg.bisection.candidates import Record, Row, Scheme, candidates_of, read_record
from actiondbg.bisection.command_line import digest, look_at
from actiondbg.bisection.filters import choose
from actiondbg.bisection.folder import close_folder, open_folder, tidy_folder
from actiondbg.bisection.result import Entry, Guilty, Result
from actiondbg.bisection.schemes import Ladder
from actiondbg.bisection.state import STATE, State
from actiondbg.bisection.verdict import Judgement
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.support.globs import glob_matches


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.mlir", "other.mlir", "lib.so"):
        (tmp_path / name).write_text(name)


# --- the command line -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "moved"),
    [
        ("in.mlir -o out.mlir --cse", "in.mlir -o NEW --cse"),
        ("-o=out.mlir in.mlir", "-o=NEW in.mlir"),
        ("--o out.mlir in.mlir", "--o NEW in.mlir"),
        ("in.mlir --cse", "in.mlir --cse"),
        ("in.mlir -o -", "in.mlir -o -"),
        ("in.mlir -o=-", "in.mlir -o=-"),
        ("in.mlir -o", "in.mlir -o"),
    ],
)
def test_the_output_file_is_moved(words: str, moved: str) -> None:
    line = look_at(["mlir-opt", *words.split()])
    assert line.with_output(Path("NEW")) == ["mlir-opt", *moved.split()]
    assert (line.output is not None) == ("NEW" in moved)


@pytest.mark.parametrize(
    ("words", "source", "reads_stdin"),
    [
        ("in.mlir --cse", "in.mlir", False),
        ("--cse --load-pass-plugin=lib.so in.mlir", "in.mlir", False),
        ("in.mlir -o other.mlir", "in.mlir", False),  # that file is not read
        ("in.mlir other.mlir", None, False),
        ("--cse", None, True),
        ("- --cse", None, True),
        ("nowhere.mlir", None, True),
    ],
)
def test_the_input_is_found(words: str, source: str | None, reads_stdin: bool) -> None:
    line = look_at(["mlir-opt", *words.split()])
    assert (line.input and str(line.input), line.reads_stdin) == (source, reads_stdin)


def test_a_word_may_be_longer_than_a_name() -> None:
    assert look_at(["mlir-opt", "builtin.module(" + "cse," * 5000 + ")"]).reads_stdin


def test_the_input_is_replaced() -> None:
    line = look_at(["mlir-opt", "in.mlir", "--cse"])
    assert line.with_input(Path("new.mlir")) == ["mlir-opt", "new.mlir", "--cse"]


def test_a_digest_is_of_names_and_contents() -> None:
    one = digest([Path("in.mlir")])
    assert one == digest([Path("in.mlir")]) != digest([Path("other.mlir")])
    Path("in.mlir").write_text("changed")
    assert one != digest([Path("in.mlir")])


# --- which actions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("canon*", "canonicalize", True),
        ("canon", "canonicalize", False),
        ("*", "", True),
        ("c?e", "cse", True),
        ("[a-c]se", "cse", True),
        ("[^a-c]se", "cse", False),
        ("[!x]se", "cse", True),
        ("[]x]", "]", True),
        (r"a\*b", "a*b", True),
        (r"a\*b", "axb", False),
        ("a.c", "abc", False),
    ],
)
def test_globs_match_as_the_agents(glob: str, text: str, matches: bool) -> None:
    assert glob_matches(glob, text) == matches


def a_pass(ordinal: int, last: int, argument: str, **fields: object) -> Row:
    return Row(ordinal, "pass-execution", argument, argument=argument, last=last, **fields)  # pyright: ignore[reportArgumentType]


def test_passes_are_chosen_by_tag_name_and_function() -> None:
    row = a_pass(1, 1, "cse", function="f")
    assert choose().takes(row) and choose().words == "" and choose().specs == []
    assert choose(name="c*").takes(row) and not choose(name="x").takes(row)
    assert choose(tag="pass-*").takes(row) and not choose(tag="fold").takes(row)
    assert choose(func="f").takes(row) and not choose(func="g").takes(row)
    assert not choose(always=["cse"]).takes(row)
    assert choose(name="a b", always=["c"]).words == "--name 'a b' --always c"


def test_a_name_is_of_a_pattern_a_pass_or_a_fold() -> None:
    specs = choose(tag="t", name="n", func="f").specs
    kinds = [[term.kind for term in terms] for terms in specs]
    assert kinds == [["tag", "func", "pattern"], ["tag", "func", "pass"], ["tag", "func", "fold"]]
    with pytest.raises(UsageError, match="not closed"):
        choose(func="[f")


# --- candidates -----------------------------------------------------------------------------


def record() -> Record:
    """canonicalize holds #2 and #4, convert #6 and #8, cse nothing; outer holds inner, with #13."""
    return Record(
        [
            a_pass(1, 4, "canonicalize", leaves=3),
            Row(2),
            Row(4),
            a_pass(5, 8, "convert", leaves=3, conversion=True),
            Row(8),
            Row(6),
            a_pass(9, 9, "cse"),
            a_pass(12, 13, "inner", leaves=1),
            Row(13),
            a_pass(11, 14, "outer", leaves=2),
            Row(14),
        ]
    )


def ordinals(scheme: Scheme) -> list[int]:
    found = record()
    return [row.ordinal for row in candidates_of(found, scheme, found.passes)]


def test_actions_and_passes_are_candidates_in_one_order() -> None:
    assert ordinals(Scheme()) == [2, 4, 6, 8, 13, 14]
    assert ordinals(Scheme(frozenset({"cse"}))) == [2, 4, 6, 8, 9, 13, 14]
    whole = frozenset({"convert"})
    assert ordinals(Scheme(whole, whole)) == [2, 4, 5, 13, 14]
    assert ordinals(Scheme(frozenset(), whole)) == [2, 4, 13, 14]
    assert ordinals(Scheme(frozenset(), frozenset({"outer", "canonicalize"}))) == [6, 8]
    assert ordinals(Scheme(whole, whole).requiring("convert")) == [2, 4, 13, 14]
    assert ordinals(Scheme(whole, whole).opening("convert")) == [2, 4, 6, 8, 13, 14]


def test_what_is_in_a_pass() -> None:
    found = record()
    inside = {row.argument: [one.ordinal for one in found.inside(row)] for row in found.passes}
    assert inside == {
        "canonicalize": [2, 4],
        "convert": [6, 8],
        "cse": [],
        "outer": [13, 14],
        "inner": [13],
    }


def schemes(verdict: str, failing: str | None = None) -> list[tuple[set[str], set[str]]]:
    found = record()
    ladder = Ladder(found, {row.argument or "" for row in found.passes})
    seen: list[tuple[set[str], set[str]]] = []
    for scheme in ladder.schemes():
        seen.append((set(scheme.passes), set(scheme.held)))
        ladder.failed(scheme, verdict, failing)  # pyright: ignore[reportArgumentType]
    return seen


def test_schemes_get_coarser() -> None:
    everything = {"canonicalize", "convert", "cse", "inner", "outer"}
    leaves = everything - {"cse"}
    finest = ({"cse", "convert"}, {"convert"})
    required = ({"cse"}, {"convert"})
    whole = (everything, leaves)
    rest = (everything - {"convert"}, leaves)
    assert schemes("untestable") == [finest, required, (set(), {"convert"}), whole, rest]
    # With fewer candidates a bad start would be bad as well.
    assert schemes("bad") == [finest, required, whole, rest]


def test_a_pass_in_which_the_tool_fails_has_to_run() -> None:
    assert schemes("untestable", "cse")[:2] == [
        ({"cse", "convert"}, {"convert"}),
        ({"convert"}, {"convert", "cse"}),
    ]
    assert len(schemes("untestable", "cse")) < 10


def test_a_record_is_read(tmp_path: Path) -> None:
    file = tmp_path / "record"
    file.write_text(
        '{"ordinal": 7}\n{"ordinal": 2, "pass": "cse", "name": "CSE", "tag": "pass-execution",'
        '"last": 2, "leaves": 0, "conversion": false, "over": true, "failed": true,'
        '"changed": false, "function": null, "location": null, "nth": 1, "id": 1, "op": "f"}\n'
    )
    read = read_record(file)
    assert [row.ordinal for row in read.actions] == [7]
    assert [row.argument for row in read.passes] == ["cse"]
    assert read.failing() == "cse"
    file.write_text("{")
    with pytest.raises(NoAnswer, match="record of a trial"):
        read_record(file)


# --- what is kept ---------------------------------------------------------------------------


WHAT = {"command line": "mlir-opt in.mlir", "oracle": "--crash"}


def test_verdicts_are_kept_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / STATE
    state = State(file, dict(WHAT))
    state.add("a", Judgement("bad", "why"))
    assert json.loads(file.read_text())["verdicts"] == {"a": {"verdict": "bad", "reason": "why"}}
    again = State(file, dict(WHAT), resume=True)
    assert (again.resumed, again.get("a"), again.get("b")) == (1, Judgement("bad", "why"), None)
    assert State(file, dict(WHAT)).resumed == 0


def test_verdicts_on_something_else_are_refused(tmp_path: Path) -> None:
    file = tmp_path / STATE
    State(file, dict(WHAT)).check("actions", "3")
    with pytest.raises(UsageError, match="its oracle was '--crash', and is '--verify' now"):
        State(file, {**WHAT, "oracle": "--verify"}, resume=True)
    again = State(file, dict(WHAT), resume=True)
    with pytest.raises(UsageError, match="its actions was '3', and is '4' now"):
        again.check("actions", "4")


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "nothing to resume"), ("{", "cannot be read"), ('{"version": 9', "cannot be read")],
)
def test_what_cannot_be_resumed(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / STATE
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=told):
        State(file, dict(WHAT), resume=True)


def test_folders_get_numbers() -> None:
    names = [str(open_folder(None, "mlir-opt", False)) for _ in range(3)]
    assert names == ["bisect-mlir-opt", "bisect-mlir-opt-2", "bisect-mlir-opt-3"]


def test_nothing_is_overwritten() -> None:
    folder = open_folder(Path("a/b"), "t", False)
    assert folder.is_dir()
    assert open_folder(folder, "t", False) == folder  # it is empty
    (folder / "notes").write_text("mine")
    with pytest.raises(UsageError, match="another --output"):
        open_folder(folder, "t", False)
    (folder / STATE).write_text("{}")
    with pytest.raises(UsageError, match="--resume"):
        open_folder(folder, "t", False)
    close_folder(folder)
    assert [file.name for file in folder.iterdir()] == ["notes"]


def test_the_newest_folder_is_resumed() -> None:
    with pytest.raises(UsageError, match="no bisection of mlir-opt"):
        open_folder(None, "mlir-opt", True)
    for name in ("bisect-mlir-opt", "bisect-mlir-opt-2", "bisect-mlir-opt-3"):
        Path(name).mkdir()
    State(Path("bisect-mlir-opt-2", STATE), {})
    assert str(open_folder(None, "mlir-opt", True)) == "bisect-mlir-opt-2"


def test_a_folder_is_kept_only_if_something_is_known() -> None:
    folder = open_folder(None, "t", False)
    state = State(folder / STATE, {})
    state.add("a", Judgement("bad", ""))
    tidy_folder(folder)
    assert folder.is_dir()
    State(folder / STATE, {})
    tidy_folder(folder)
    assert not folder.exists()


# --- the result -----------------------------------------------------------------------------


def test_the_keys_of_a_result_are_stable() -> None:
    entry = Entry(ordinal=3, tag="fold", name="arith.addi", op="arith.addi", location="a:1:2")
    result = Result(
        verdict="found", guilty=Guilty(entry=entry, pass_name="cse"), trials=4, candidates=2
    )
    shown = result.as_json()
    wanted = ("verdict", "ordinal", "tag", "name", "pass", "op", "location", "trials", "candidates")
    assert {key: shown[key] for key in wanted} == {
        "verdict": "found",
        "ordinal": 3,
        "tag": "fold",
        "name": "arith.addi",
        "pass": "cse",
        "op": "arith.addi",
        "location": "a:1:2",
        "trials": 4,
        "candidates": 2,
    }
    assert (shown["skips"], shown["reproducer"], shown["reproducer_verified"]) == ([], None, None)
    assert shown.keys() == Result(verdict="flaky").as_json().keys()
    assert json.dumps(shown)
