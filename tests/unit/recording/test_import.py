"""Logs and folders of dumps imported as recordings; the logs are cut out of real ones."""

from __future__ import annotations

import gzip
import io
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from actiondbg.cli import main
from actiondbg.ir.aliases import definitions, with_aliases_of, with_used, without_aliases
from actiondbg.ir.tree.outline import find, outermost, symbols_in
from actiondbg.recording import open_recording
from actiondbg.recording.errors import RecordingError
from actiondbg.recording.imported.importer import Import, import_log
from actiondbg.recording.imported.passes import parse_header, split_ir
from actiondbg.recording.recording import Recording
from actiondbg.recording.report import report_page
from tests.paths import ROOT

LOGS = ROOT / "tests/inputs/logs"
OLD = "// -----// IR Dump After CSE (cse) //----- //"
NEW = "// -----// IR Dump Before InlinerPass: inline{max-iterations=4 } //----- //"


def imported(source: Path, output: Path) -> tuple[Import, Recording]:
    found = import_log(str(source), output)
    return found, open_recording(output)


def rows(recording: Recording, *columns: str) -> list[tuple[Any, ...]]:
    table = recording.table("actions", list(columns))
    return list(zip(*(table.column(name).to_pylist() for name in columns), strict=True))


def changes(recording: Recording, ordinal: int) -> list[str]:
    table = recording.table("changes", ["ordinal", "kind", "op", "function"]).to_pylist()
    return [
        f"{one['kind']} {one['op']} {one['function']}" for one in table if one["ordinal"] == ordinal
    ]


# --- headers and texts ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (OLD, ("after", "cse", "CSE", False, None)),
        (NEW, ("before", "inline", "InlinerPass", False, None)),
        (
            "// -----// IR Dump After OneShotBufferizePass Failed (one-shot-bufferize) //----- //",
            ("after", "one-shot-bufferize", "OneShotBufferizePass", True, None),
        ),
        (
            "// -----// IR Dump After A Failed: a-b{x=1 f=(d0) -> (d0)} //----- //",
            ("after", "a-b", "A", True, None),
        ),
        (
            "// -----// IR Dump After Canonicalizer (canonicalize) ('func.func' operation: @f) "
            "//----- //",
            ("after", "canonicalize", "Canonicalizer", False, ("func.func", "f")),
        ),
        (
            "// -----// IR Dump Before X: x ('builtin.module' operation) //----- //",
            ("before", "x", "X", False, ("builtin.module", "")),
        ),
        (
            "// -----// IR Dump Before X: x ('func.func' operation: @\"a b\") //----- //",
            ("before", "x", "X", False, ("func.func", "a b")),
        ),
        (
            "// -----// IR Dump After mlir::iree_compiler::detail::OpPipelineAdaptorPass: "
            "iree-op-pipeline-adaptor //----- //",
            (
                "after",
                "iree-op-pipeline-adaptor",
                "mlir::iree_compiler::detail::OpPipelineAdaptorPass",
                False,
                None,
            ),
        ),
        (
            "// -----// IR Dump After (anonymous namespace)::Mine //----- //",
            ("after", "(anonymous namespace)::Mine", "(anonymous namespace)::Mine", False, None),
        ),
    ],
)
def test_header(line: str, expected: tuple[Any, ...]) -> None:
    header = parse_header(f"{line}\n", 7)
    assert header is not None
    assert header == (*expected, 7)


def test_other_lines_are_no_headers() -> None:
    internal = "// -----// SoftwarePipeliner internal IR Dump After: LowerLoops\n"
    assert parse_header(internal, 1) is None
    assert parse_header("// -----// IR Dump mine //----- //\n", 1) is None


def test_ir_ends_before_other_lines_but_not_at_an_empty_line_inside() -> None:
    ir = "module {\n  a.b\n\n  a.c\n}\n#loc = loc(unknown)"
    assert split_ir(f"{ir}\n\n\nf.mlir:1:1: error: no\n  note\n") == (
        ir,
        "f.mlir:1:1: error: no\n  note",
    )
    assert split_ir("func.func private @f()\n\n") == ("func.func private @f()", "")


def test_printed_operations() -> None:
    text = (
        "#map = affine_map<(d0) -> (d0)>\n"
        "module attributes {a.b} {\n"
        '  util.global private @"g h" : i32\n'
        "  func.func @f(%arg0: i32) {\n"
        "    func.call @g() : () -> ()\n"
        "  ^bb1:\n"
        "    return\n"
        "  }\n"
        '  "func.func"() <{sym_name = "g"}> ({\n'
        "  }) : () -> ()\n"
        "  builtin.module @inner {\n"
        "    func.func private @f()\n"
        "  }\n"
        "}\n"
    )
    outer = outermost(text)
    assert outer is not None
    assert (outer.name, outer.symbol, text[outer.end :]) == ("builtin.module", "", "")
    inside = [(one.name, one.symbol) for one in symbols_in(text, outer)]
    assert inside == [
        ("util.global", "g h"),
        ("func.func", "f"),
        ("func.func", "g"),
        ("builtin.module", "inner"),
    ]
    first, second = find(text, "func.func", "f")
    assert text[first.begin : first.end].endswith("    return\n  }\n")
    assert text[second.begin : second.end] == "    func.func private @f()\n"
    assert find(text, "func.func", "h") == []


def test_an_attribute_of_several_lines_is_an_alias() -> None:
    text = (
        "#composite = #util.composite<8xi8, [\n"
        "    dense<[2, 1]> : tensor<2xi16>,\n"
        "    dense<0> : vector<4xi8>,\n"
        "]>\n"
        "#loc = loc(unknown)\n"
        "module {\n"
        "  util.global private @a = #composite\n"
        "}\n"
    )
    outer = outermost(text)
    assert outer is not None
    assert outer.name == "builtin.module"
    (inner,) = symbols_in(text, outer)
    whole = with_used(text[inner.begin : inner.end], definitions(text))
    assert whole == text.partition("#loc")[0] + "  util.global private @a = #composite\n"


def test_aliases_mean_the_same_in_other_dumps() -> None:
    module = '#loc = loc(unknown)\n#loc1 = loc(fused[#loc, "a":1:2])\nx loc(#loc1)\n'
    inline = 'x loc(fused[unknown, "a":1:2])\n'
    assert without_aliases(module) == without_aliases(inline)
    later = '#loc = loc("b":1:1)\n#loc4 = loc(unknown)\n#loc5 = loc(fused[#loc4, "a":1:2])\n'
    assert with_aliases_of(module, f"{later}x loc(#loc5)\ny loc(#loc)\n") == (
        '#loc = loc(unknown)\n#loc1 = loc(fused[#loc, "a":1:2])\n#loc2 = loc("b":1:1)\n'
        "x loc(#loc1)\ny loc(#loc2)\n"
    )


def test_a_part_keeps_its_aliases_each_after_those_in_it() -> None:
    definitions = {"#a": "loc(fused[#b, #c])", "#b": "loc(#c)", "#c": "loc(unknown)", "#d": "1"}
    assert with_used("x loc(#a)\n", definitions) == (
        "#c = loc(unknown)\n#b = loc(#c)\n#a = loc(fused[#b, #c])\nx loc(#a)\n"
    )


# --- logs ------------------------------------------------------------------------------------


def test_dumps_after_passes(tmp_path: Path) -> None:
    found, recording = imported(LOGS / "after.log", tmp_path / "run.adbrec")
    assert rows(recording, "name", "function", "outcome", "changed") == [
        ("canonicalize", "h", "succeeded", None),
        ("cse", "h", "unchanged", False),
        ("canonicalize", "f", "succeeded", None),
        ("cse", "f", "unchanged", False),
        ("canonicalize", "f", "unchanged", False),
        ("canonicalize", "g", "succeeded", None),
        ("inline", None, "succeeded", None),
        ("symbol-dce", None, "succeeded", True),
    ]
    assert changes(recording, 8) == ["erased func.func h"]
    assert (found.passes, found.rest, found.notes) == (8, 0, [])


def test_dumps_before_and_after_nest(tmp_path: Path) -> None:
    _, recording = imported(LOGS / "both.log", tmp_path / "run.adbrec")
    assert rows(recording, "name", "function", "line", "depth", "parent", "changed") == [
        ("canonicalize", "f", 1, 0, None, True),
        ("cse", "f", 1, 0, None, False),
        ("canonicalize", "h", 16, 0, None, False),
        ("cse", "h", 16, 0, None, False),
        ("inline", None, 0, 0, None, False),
        ("canonicalize", "f", 1, 1, 5, False),
        ("canonicalize", "g", 9, 1, 5, False),
        ("symbol-dce", None, 0, 0, None, True),
    ]
    assert changes(recording, 1) == ["modified func.func f"]


def test_a_string_that_holds_a_mark_is_part_of_its_dump(tmp_path: Path) -> None:
    dump = (
        "// -----// IR Dump {} CSE (cse) //----- //\nmodule {{\n  func.func @a() {{\n"
        '    "t.s"() {{s = "// -----// IR Dump After CSE (cse) //----- //"}} : () -> ()\n'
        "{}    return\n  }}\n}}\n\n"
    )
    log = tmp_path / "string.log"
    log.write_text(dump.format("Before", '    "t.x"() : () -> ()\n') + dump.format("After", ""))
    found, recording = imported(log, tmp_path / "run.adbrec")
    assert rows(recording, "name", "outcome", "changed") == [("cse", "succeeded", True)]
    assert (found.rest, found.notes) == (0, [])


def test_ir_that_no_pass_left_is_noted(tmp_path: Path) -> None:
    dump = "// -----// IR Dump {} CSE (cse) //----- //\nmodule {{\n  func.func @{}()\n}}\n\n"
    log = tmp_path / "split.log"
    parts = [(when, name) for name in "ab" for when in ("Before", "After")]
    log.write_text("".join(dump.format(*part) for part in parts))
    [note] = imported(log, tmp_path / "run.adbrec")[0].notes
    assert note.startswith("1 dump before passes shows IR that no pass of the log left:")
    assert imported(LOGS / "both.log", tmp_path / "both.adbrec")[0].notes == []


def test_an_import_has_no_times_no_command_and_no_known_end(tmp_path: Path) -> None:
    _, recording = imported(LOGS / "both.log", tmp_path / "run.adbrec")
    assert set(rows(recording, "start_ns", "duration_ns", "self_ns")) == {(None, None, None)}
    header = recording.header
    assert (header.argv, header.imported) == ((), str(LOGS / "both.log"))
    assert (recording.ending.ended, recording.ending.status, recording.cut) == (
        "unknown",
        None,
        None,
    )


def test_a_failed_pass_has_the_errors_before_its_dump(tmp_path: Path) -> None:
    found, recording = imported(LOGS / "failed.log", tmp_path / "run.adbrec")
    assert rows(recording, "name", "outcome", "reason") == [
        ("cse", "succeeded", None),
        ("one-shot-bufferize", "failed", "op was not bufferized"),
    ]
    assert found.rest == 4


def test_dumps_of_triton_before_passes(tmp_path: Path) -> None:
    rest = io.BytesIO()
    output = tmp_path / "run.adbrec"
    found = import_log(str(LOGS / "triton.log"), output, rest=rest)
    assert rows(open_recording(output), "name", "file", "outcome") == [
        ("tritongpu-schedule-loops", "add.py", "unchanged"),
        ("tritongpu-pipeline", "add.py", "unchanged"),
        ("canonicalize", "add.py", "unchanged"),
        ("triton-loop-aware-cse", "add.py", "unchanged"),
        ("tritongpu-prefetch", "add.py", "unchanged"),
        ("tritongpu-optimize-dot-operands", "add.py", "unfinished"),
    ]
    lines = rest.getvalue().decode().splitlines()
    assert len(lines) == found.rest
    assert lines[0] == "// -----// SoftwarePipeliner internal IR Dump After: LowerLoops"


def test_dumps_of_iree(tmp_path: Path) -> None:
    _, recording = imported(LOGS / "iree.log", tmp_path / "run.adbrec")
    assert rows(recording, "name", "op", "function", "outcome")[6:11] == [
        ("iree-abi-wrap-entry-points", "builtin.module", None, "succeeded"),
        ("canonicalize", "util.func", "_mm", "unchanged"),
        ("canonicalize", "util.func", "mm", "unchanged"),
        ("canonicalize", "util.func", "mm", "succeeded"),
        ("inline", "builtin.module", None, "succeeded"),
    ]
    assert changes(recording, 2) == [
        "inserted util.func mm",
        "replaced func.func mm",
        "erased func.func mm",
    ]
    assert changes(recording, 11) == ["erased util.func _mm"]


def test_modules_inside_executables_are_other_modules(tmp_path: Path) -> None:
    _, recording = imported(LOGS / "iree-executable.log", tmp_path / "run.adbrec")
    modules = [
        operation for operation, op in rows(recording, "operation", "op") if op == "builtin.module"
    ]
    assert modules[0] not in modules[1:]
    assert len(set(modules)) == 2
    # The first dump of the inner module is compared with the executable and the function around.
    assert rows(recording, "name", "changed")[8] == ("iree-op-pipeline-adaptor", False)


def test_passes_of_several_threads_follow_one_another(tmp_path: Path) -> None:
    log = tmp_path / "threads.log"

    def dump(when: str, name: str) -> str:
        header = f"// -----// IR Dump {when} CSE (cse) //----- //"
        return f"{header}\nfunc.func @{name}() {{\n  return\n}}\n\n"

    log.write_text(
        dump("Before", "f") + dump("Before", "g") + dump("After", "f") + dump("After", "g")
    )
    found, recording = imported(log, tmp_path / "run.adbrec")
    assert rows(recording, "function", "thread", "depth", "outcome") == [
        ("f", 0, 0, "unchanged"),
        ("g", 0, 0, "unchanged"),
    ]
    assert ["several threads" in note for note in found.notes] == [True]


def test_after_change_only_changes_are_printed(tmp_path: Path) -> None:
    log = tmp_path / "changes.log"

    def dump(when: str, name: str, body: str) -> str:
        return f"// -----// IR Dump {when} {name} ({name}) //----- //\nmodule {{\n  {body}\n}}\n\n"

    log.write_text(
        dump("Before", "a", "x.one")
        + dump("Before", "b", "x.one")
        + dump("After", "b", "x.two")
        + dump("Before", "c", "x.two")
        + dump("After", "c", "x.three")
        + dump("Before", "b", "x.three")
        + dump("Before", "c", "x.three")
        + dump("After", "c", "x.four")
    )
    _, recording = imported(log, tmp_path / "run.adbrec")
    assert rows(recording, "name", "outcome", "depth") == [
        ("a", "unchanged", 0),
        ("b", "succeeded", 0),
        ("c", "succeeded", 0),
        ("b", "unchanged", 0),
        ("c", "succeeded", 0),
    ]


def test_passes_in_which_the_tool_died_are_unfinished(tmp_path: Path) -> None:
    text = (LOGS / "both.log").read_text()
    at = text.index("IR Dump After SymbolDCE")
    log = tmp_path / "died.log"
    log.write_text(text[: text.rindex("\n", 0, at) + 1] + "Stack dump:\n0. Program arguments\n")
    found, recording = imported(log, tmp_path / "run.adbrec")
    assert rows(recording, "name", "outcome")[-2:] == [
        ("canonicalize", "unchanged"),
        ("symbol-dce", "unfinished"),
    ]
    assert found.rest == 2


def test_a_dump_is_cut_off(tmp_path: Path) -> None:
    log = tmp_path / "cut.log"
    log.write_text((LOGS / "after.log").read_text()[:-20])
    found, recording = imported(log, tmp_path / "run.adbrec")
    assert recording.count == 7
    assert found.notes == [
        "The log is cut off in the dump after SymbolDCE (line 55), which is left out."
    ]


def test_compressed_logs_and_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (LOGS / "after.log").read_bytes()
    packed = tmp_path / "after.log.gz"
    packed.write_bytes(gzip.compress(content))
    assert imported(packed, tmp_path / "run.adbrec")[1].count == 8
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert import_log("-", tmp_path / "piped.adbrec").passes == 8
    assert open_recording(tmp_path / "piped.adbrec").header.imported == "standard input"


def test_a_folder_of_dumps_is_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    for path in (
        "builtin_module_no-symbol-name/1_inline.mlir",
        "builtin_module_no-symbol-name/func_func_f/0_0_canonicalize.mlir",
        "builtin_module_no-symbol-name/func_func_f/0_10_sccp.mlir",
        "builtin_module_no-symbol-name/func_func_f/0_9_cse.mlir",
        "builtin_module_no-symbol-name/func_func_f/1_11_canonicalize.mlir",
        "builtin_module_no-symbol-name/func_func_g/0_0_canonicalize.mlir",
        "builtin_module_no-symbol-name/2_symbol-dce.mlir",
    ):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        name = file.stem.rpartition("_")[2]
        symbol = file.parent.name.removeprefix("func_func_")
        is_module = file.parent.name.startswith("builtin")
        text = "module {\n}" if is_module else f"func.func @{symbol}() {{\n  return\n}}"
        file.write_text(f"// -----// IR Dump After X ({name}) //----- //\n{text}\n\n")
    _, recording = imported(folder, tmp_path / "run.adbrec")
    assert rows(recording, "name", "function") == [
        ("canonicalize", "f"),
        ("cse", "f"),
        ("sccp", "f"),
        ("canonicalize", "g"),
        ("inline", None),
        ("canonicalize", "f"),
        ("symbol-dce", None),
    ]


def test_the_report_has_diffs_and_no_times(tmp_path: Path) -> None:
    _, recording = imported(LOGS / "both.log", tmp_path / "run.adbrec")
    page = report_page(recording).html
    assert '"timed":false' in page
    assert "The diffs of all 2 actions whose IR was recorded." in page
    assert f"actiondbg import {LOGS / 'both.log'}" in page


def test_the_report_of_passes_with_unknown_changes(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(f"{OLD}\nmodule {{\n}}\n\n")
    _, recording = imported(log, tmp_path / "run.adbrec")
    assert rows(recording, "outcome", "changed") == [("succeeded", None)]
    page = report_page(recording).html
    assert "There are no diffs: no pass is known to have changed the IR." in page


def test_logs_and_queries_show_that_times_are_unknown(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    imported(LOGS / "failed.log", tmp_path / "run.adbrec")
    run = str(tmp_path / "run.adbrec")
    assert main(["log", run]) == 0
    first = b"#1       t0  succeeded          pass-execution (cse) on @1 builtin.module\n"
    assert capsysbinary.readouterr().out.startswith(first)
    assert main(["query", run, "select started, ended, command, ir from runs"]) == 0
    assert capsysbinary.readouterr().out.split()[-4:] == [b"NULL", b"unknown", b"NULL", b"pass"]


@pytest.mark.parametrize("words", [["stat"], ["trace", "-o", "{}/x.json"]])
def test_what_needs_times_is_refused(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    imported(LOGS / "failed.log", tmp_path / "run.adbrec")
    assert main([*(word.format(tmp_path) for word in words), str(tmp_path / "run.adbrec")]) == 1
    assert "which has passes and no times: record them with" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.adbrec"]


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty: run the compiler with --mlir-print-ir-after-all 2> LOG"),
        ("module {\n}\n", "has no dump of a pass in its 2 lines: run the compiler with"),
        (f"{OLD}\nmodule {{\n", "ends in the middle of its only dump (after CSE, line 1)"),
        (f"1 {OLD}\n1 x\n\n" * 2, "has 2 dumps without an operation"),
    ],
)
def test_logs_without_passes(tmp_path: Path, content: str, message: str) -> None:
    log = tmp_path / "x.log"
    log.write_text(content)
    with pytest.raises(RecordingError) as raised:
        import_log(str(log), tmp_path / "run.adbrec")
    assert message in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.log"]


def test_folders_without_dumps(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="has no dump of a pass, such as 0_canon"):
        import_log(str(tmp_path), tmp_path / "run.adbrec")


def test_damaged_gzip(tmp_path: Path) -> None:
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress((LOGS / "iree.log").read_bytes())[:-100])
    with pytest.raises(RecordingError, match=r"x.gz' cannot be read \(.*\): give a log"):
        import_log(str(packed), tmp_path / "run.adbrec")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "after.log"
    shutil.copy(LOGS / "after.log", log)
    run = tmp_path / "after.adbrec"
    assert main(["import", str(log)]) == 0
    assert capsys.readouterr().err.startswith("actiondbg: 8 passes (")
    assert main(["import", str(LOGS / "failed.log"), "-o", str(run)]) == 0
    assert capsys.readouterr().err.endswith(
        ", replacing the previous recording. 4 lines outside of the dumps are left out "
        "(--rest FILE keeps them).\n"
    )
    rest = tmp_path / "rest"
    assert (
        main(["import", "-q", str(LOGS / "failed.log"), "-o", str(run), "--rest", str(rest)]) == 0
    )
    assert capsys.readouterr().err == ""
    assert "error: op was not bufferized" in rest.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{}/run.adbrec"], "is a recording already: open it with 'actiondbg open"),
        (["-"], "the recording of standard input needs a name: give it with -o."),
        (["{}/x.log", "-o", "{}/x.log"], "is not a recording and is not overwritten"),
        (["{}/x.log", "--rest", "{}/x.log"], "is the log and is not overwritten"),
        (["{}/x.log", "-o", "-"], "'-' is not a path for a recording"),
        (["{}/x.log", "-o", "{}"], "is not a recording and is not overwritten"),
    ],
)
def test_refused_words(
    tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(LOGS / "after.log", tmp_path / "x.log")
    import_log(str(tmp_path / "x.log"), tmp_path / "run.adbrec")
    assert main(["import", *(word.format(tmp_path) for word in words)]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "x.log").read_text() == (LOGS / "after.log").read_text()
