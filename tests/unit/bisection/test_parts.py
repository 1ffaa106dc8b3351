"""The parts of a bisection that need no tool: the command line, the candidates, what is kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from actiondbg.bisection.api import open_folder, opened_folder, remove_if_empty, remove_state
from actiondbg.bisection.candidates import (
    Record,
    RecordedAction,
    Scheme,
    SchemeQueue,
    candidates_of,
    make_filter,
    read_record,
)
from actiondbg.bisection.folder import FolderFile
from actiondbg.bisection.result import Culprit, Entry, Result, listed
from actiondbg.bisection.verdict import Judgement
from actiondbg.bisection.verdict_store import VerdictStore
from actiondbg.errors import NoAnswer, UsageError
from actiondbg.support.globs import glob_matches
from actiondbg.tool.command_line import digest_of_files, inspect_command_line
from tests.elements import some


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
    line = inspect_command_line(["mlir-opt", *words.split()])
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
    line = inspect_command_line(["mlir-opt", *words.split()])
    assert (line.input and str(line.input), line.reads_stdin) == (source, reads_stdin)


def test_word_may_exceed_the_length_of_a_file_name() -> None:
    assert inspect_command_line(["mlir-opt", "builtin.module(" + "cse," * 5000 + ")"]).reads_stdin


def test_the_input_is_replaced() -> None:
    line = inspect_command_line(["mlir-opt", "in.mlir", "--cse"])
    assert line.with_input(Path("new.mlir")) == ["mlir-opt", "new.mlir", "--cse"]


def test_a_digest_is_of_names_and_contents() -> None:
    one = digest_of_files([Path("in.mlir")])
    assert one == digest_of_files([Path("in.mlir")]) != digest_of_files([Path("other.mlir")])
    Path("in.mlir").write_text("changed")
    assert one != digest_of_files([Path("in.mlir")])


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


def a_pass(ordinal: int, last: int, argument: str, **fields: Any) -> RecordedAction:
    return RecordedAction(
        ordinal=ordinal,
        tag="pass-execution",
        name=argument,
        argument=argument,
        last=last,
        **fields,
    )


def test_a_filter_as_options() -> None:
    assert make_filter().options == "" and make_filter().specs == []
    assert make_filter(name="a b", always=["c"]).options == "--name 'a b' --always c"
    found = make_filter(func="f", specs=["cse"]).options
    assert found == "--filter cse --func f"


def test_names_of_patterns_passes_folds_and_schedules() -> None:
    specs = make_filter(tag="t", name="n", func="f").specs
    kinds = [[term.kind for term in spec.terms] for spec in specs]
    common = ["tag", "func"]
    assert kinds == [[*common, *own] for own in (["pattern"], ["pass"], ["fold"], ["tag", "op"])]
    with pytest.raises(UsageError, match="not closed"):
        make_filter(func="[f")


def test_each_filter_is_combined_with_the_globs() -> None:
    specs = make_filter(func="f", specs=["in:cse#2 if depth > 1", "pattern:A*"]).specs
    assert [[term.kind for term in spec.terms] for spec in specs] == [
        ["in", "func"],
        ["pattern", "func"],
    ]
    assert [spec.condition is None for spec in specs] == [False, True]


@pytest.mark.parametrize("spec", ["#12", "pattern:A if ordinal > 3", "op:a.b if id > 5"])
def test_a_filter_by_numbers_is_refused(spec: str) -> None:
    with pytest.raises(UsageError, match="ordinals and ids differ in runs that skip actions"):
        make_filter(specs=[spec])


@pytest.mark.parametrize("field", ["hits > 1", "outcome == 'failed'"])
def test_a_filter_by_what_follows_an_action_is_refused(field: str) -> None:
    with pytest.raises(UsageError, match="not known before an action"):
        make_filter(specs=[f"pattern:A if {field}"])


# --- candidates -----------------------------------------------------------------------------


def record() -> Record:
    """canonicalize holds #2 and #4, convert #6 and #8, cse nothing; outer holds inner, with #13."""
    return Record(
        [
            a_pass(1, 4, "canonicalize", leaves=3),
            RecordedAction(ordinal=2),
            RecordedAction(ordinal=4),
            a_pass(5, 8, "convert", leaves=3, conversion=True),
            RecordedAction(ordinal=8),
            RecordedAction(ordinal=6),
            a_pass(9, 9, "cse"),
            a_pass(12, 13, "inner", leaves=1),
            RecordedAction(ordinal=13),
            a_pass(11, 14, "outer", leaves=2),
            RecordedAction(ordinal=14),
        ]
    )


def ordinals(scheme: Scheme) -> list[int]:
    found = record()
    return [action.ordinal for action in candidates_of(found, scheme)]


def test_passes_that_the_filter_leaves_out_are_no_candidates() -> None:
    found = Record([a_pass(1, 1, "cse"), a_pass(2, 2, "cse", selected=False)])
    assert [one.ordinal for one in candidates_of(found, Scheme(frozenset({"cse"})))] == [1]


def test_actions_and_passes_are_candidates_in_one_order() -> None:
    assert ordinals(Scheme()) == [2, 4, 6, 8, 13, 14]
    assert ordinals(Scheme(frozenset({"cse"}))) == [2, 4, 6, 8, 9, 13, 14]
    whole = frozenset({"convert"})
    assert ordinals(Scheme(whole, whole)) == [2, 4, 5, 13, 14]
    assert ordinals(Scheme(frozenset(), whole)) == [2, 4, 13, 14]
    assert ordinals(Scheme(frozenset(), frozenset({"outer", "canonicalize"}))) == [6, 8]
    assert ordinals(Scheme(whole, whole).requiring("convert")) == [2, 4, 13, 14]
    assert ordinals(Scheme(whole, whole).opening("convert")) == [2, 4, 6, 8, 13, 14]


def test_actions_in_a_pass() -> None:
    found = record()
    inside = {
        action.argument: [one.ordinal for one in found.actions_in(action)]
        for action in found.passes
    }
    assert inside == {
        "canonicalize": [2, 4],
        "convert": [6, 8],
        "cse": [],
        "outer": [13, 14],
        "inner": [13],
    }


def schemes(verdict: str, failing: str | None = None) -> list[tuple[set[str], set[str]]]:
    found = record()
    queue = SchemeQueue(found, {action.argument or "" for action in found.passes})
    seen: list[tuple[set[str], set[str]]] = []
    for scheme in queue.schemes():
        seen.append((set(scheme.passes), set(scheme.held)))
        queue.failed(scheme, verdict, failing)  # pyright: ignore[reportArgumentType]
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


def test_the_schemes_of_passes_alone_begin_with_all_of_them() -> None:
    found = record()
    arguments = {action.argument or "" for action in found.passes}
    first = next(SchemeQueue(found, arguments, only_passes=True).schemes())
    assert first.passes == arguments


@pytest.mark.parametrize("only_passes", [False, True])
def test_each_start_is_described(only_passes: bool) -> None:
    found = record()
    queue = SchemeQueue(found, {one.argument or "" for one in found.passes}, only_passes)
    words: list[str] = []
    for scheme in some(queue.schemes()):
        words.append(scheme.words)
        queue.failed(scheme, "untestable", "cse" if len(words) == 1 else None)
    assert len(set(words)) == len(words) > 5
    assert "" not in words


def test_failing_pass_is_required() -> None:
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
    assert [action.ordinal for action in read.actions] == [7]
    assert [action.argument for action in read.passes] == ["cse"]
    assert read.failed_pass() == "cse"
    file.write_text("{")
    with pytest.raises(NoAnswer, match="record of a trial"):
        read_record(file)


# --- what is kept ---------------------------------------------------------------------------


IDENTITY = {"command line": "mlir-opt in.mlir", "oracle": "--crash"}


def test_verdicts_are_saved_and_resumed(tmp_path: Path) -> None:
    file = tmp_path / FolderFile.STATE
    state = VerdictStore(file, dict(IDENTITY))
    state.add("a", Judgement("bad", "why"))
    assert json.loads(file.read_text())["verdicts"] == {"a": {"verdict": "bad", "reason": "why"}}
    again = VerdictStore(file, dict(IDENTITY), resume=True)
    assert (again.resumed, again.get("a"), again.get("b")) == (1, Judgement("bad", "why"), None)
    assert VerdictStore(file, dict(IDENTITY)).resumed == 0


def test_verdicts_of_another_run_are_refused(tmp_path: Path) -> None:
    file = tmp_path / FolderFile.STATE
    VerdictStore(file, dict(IDENTITY)).check("actions", "3")
    with pytest.raises(UsageError, match="its oracle was '--crash', and is '--verify' now"):
        VerdictStore(file, {**IDENTITY, "oracle": "--verify"}, resume=True)
    again = VerdictStore(file, dict(IDENTITY), resume=True)
    with pytest.raises(UsageError, match="its actions was '3', and is '4' now"):
        again.check("actions", "4")


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "nothing to resume"), ("{", "cannot be read"), ('{"version": 9', "cannot be read")],
)
def test_folders_that_cannot_be_resumed(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / FolderFile.STATE
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=told):
        VerdictStore(file, dict(IDENTITY), resume=True)


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
    (folder / FolderFile.STATE).write_text("{}")
    with pytest.raises(UsageError, match="--resume"):
        open_folder(folder, "t", False)
    remove_state(folder)
    assert [file.name for file in folder.iterdir()] == ["notes"]


def test_the_newest_folder_is_resumed() -> None:
    with pytest.raises(UsageError, match="no bisection of mlir-opt"):
        open_folder(None, "mlir-opt", True)
    for name in ("bisect-mlir-opt", "bisect-mlir-opt-2", "bisect-mlir-opt-3"):
        Path(name).mkdir()
    VerdictStore(Path("bisect-mlir-opt-2", FolderFile.STATE), {})
    assert str(open_folder(None, "mlir-opt", True)) == "bisect-mlir-opt-2"


def test_folder_without_verdicts_is_removed() -> None:
    folder = open_folder(None, "t", False)
    state = VerdictStore(folder / FolderFile.STATE, {})
    state.add("a", Judgement("bad", ""))
    remove_if_empty(folder)
    assert folder.is_dir()
    VerdictStore(folder / FolderFile.STATE, {})
    remove_if_empty(folder)
    assert not folder.exists()


def test_a_text_alone_is_one_of_several() -> None:
    """Its letters would be other globs and SPECs."""
    assert make_filter(always="cse") == make_filter(always=["cse"])
    assert make_filter(specs="pass:cse") == make_filter(specs=["pass:cse"])


def test_a_folder_that_stays_empty_is_removed() -> None:
    """A signal may end the process before the search begins."""
    with pytest.raises(SystemExit), opened_folder(None, "t", False) as folder:
        assert folder.is_dir()
        sys.exit(143)
    assert not folder.exists()


def test_an_empty_folder_of_the_user_stays(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with opened_folder(own, "t", False) as folder:
        VerdictStore(folder / FolderFile.STATE, {})
        remove_state(folder)
    with pytest.raises(UsageError), opened_folder(own, "t", True):
        raise UsageError("There is nothing to resume.")
    assert own.is_dir()


# --- the result -----------------------------------------------------------------------------


def test_the_keys_of_a_result_are_stable() -> None:
    entry = Entry(ordinal=3, tag="fold", name="arith.addi", op="arith.addi", location="a:1:2")
    result = Result(
        verdict="found", culprit=Culprit(entry=entry, pass_name="cse"), trials=4, candidates=2
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


def test_passes_alone_are_candidates_as_a_whole_at_once() -> None:
    assert make_filter(tag="pass-execution").only_passes
    assert not make_filter(tag="*").only_passes and not make_filter().only_passes


def test_a_pass_around_others_of_a_set_is_told() -> None:
    around = Entry(ordinal=1, tag="pass-execution", name="outer", last=9)
    inner = Entry(ordinal=5, tag="fold", name="x.y", last=5)
    behind = Entry(ordinal=12, tag="fold", name="x.z", last=12)
    assert listed([around, inner, behind], 2) == [
        "#1 pass-execution (outer), around #5",
        "#5 fold (x.y)",
        "... and 1 more",
    ]
