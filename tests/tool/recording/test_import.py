"""Logs of real tools, imported, and compared with recordings of the same runs."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from actiondbg.errors import NotRecorded
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record
from actiondbg.recording.imported.importer import import_log
from actiondbg.recording.recording import Recording
from actiondbg.recording.session import open_session
from actiondbg.tool import find_tool
from tests.elements import some
from tests.paths import COMMAND
from tests.processes import open_files, wait_until

MLIR_OPT = str(find_tool("mlir-opt").path)
SOURCE = """\
func.func @f(%a: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %a, %c1 : i32
  %1 = arith.addi %0, %c2 : i32
  %2 = func.call @g(%1) : (i32) -> i32
  return %2 : i32
}
func.func private @g(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}
module @inner {
  func.func @h(%m: memref<4xindex>) {
    affine.for %i = 0 to 4 {
      affine.store %i, %m[%i] : memref<4xindex>
    }
    return
  }
}
"""
PIPELINE = (
    "builtin.module(func.func(canonicalize,cse),inline,symbol-dce,canonicalize,cse,"
    "builtin.module(func.func(lower-affine,cse)),convert-scf-to-cf,convert-func-to-llvm)"
)
BEFORE, AFTER = "--mlir-print-ir-before-all", "--mlir-print-ir-after-all"
SCOPE, LOCATIONS = "--mlir-print-ir-module-scope", "--mlir-print-debuginfo"
ADAPTOR = "Pipeline Collection"  # upstream prints no dump of these


def tool(path: Path, *options: str) -> list[str]:
    source = path / "in.mlir"
    source.write_text(SOURCE)
    return [
        *(MLIR_OPT, str(source), f"--pass-pipeline={PIPELINE}"),
        *("--mlir-disable-threading", *options),
    ]


def imported(path: Path, *options: str) -> Recording:
    log = path / "passes.log"
    with log.open("wb") as file:
        subprocess.run(tool(path, *options), stdout=subprocess.DEVNULL, stderr=file, check=True)
    import_log(str(log), path / "imported.adbrec")
    return open_recording(path / "imported.adbrec")


def passes(recording: Recording, *columns: str) -> list[tuple[Any, ...]]:
    table = recording.table("actions", ["tag", "full_name", *columns]).to_pylist()
    return [
        tuple(row[name] for name in columns)
        for row in table
        if row["tag"] == "pass-execution" and "PassAdaptor" not in row["full_name"]
    ]


@pytest.mark.parametrize("options", [(), (SCOPE,), (LOCATIONS,), (SCOPE, LOCATIONS)], ids=" ".join)
def test_the_passes_are_those_of_the_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = record(tool(tmp_path), tmp_path / "run.adbrec", stdout=os.devnull)
    assert done.path is not None
    columns = ("name", "op", "function")
    ran = passes(open_recording(done.path), *columns)
    recording = imported(tmp_path, BEFORE, AFTER, *options)
    assert [(name, op, function) for name, op, function in passes(recording, *columns)] == ran


@pytest.mark.parametrize(
    "options",
    [
        (BEFORE, AFTER),
        (BEFORE, AFTER, LOCATIONS),
        (BEFORE, AFTER, SCOPE, LOCATIONS),
        (BEFORE, AFTER, "--mlir-print-ir-after-change", SCOPE),
        (BEFORE, SCOPE),
    ],
    ids=" ".join,
)
def test_all_ways_of_printing_show_the_same_changes(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    expected = passes(imported(tmp_path, BEFORE, AFTER, SCOPE), "name", "function", "changed")
    found = passes(imported(tmp_path, *options), "name", "function", "changed")
    known = [
        (one, other) for one, other in zip(expected, found, strict=True) if other[-1] is not None
    ]
    if BEFORE in options and AFTER not in options:
        # Without ends the log has inlining before the passes that it runs.
        known = [pair for pair in known if pair[0][0] not in ("inline", "canonicalize")]
    assert [other for _, other in known] == [one for one, _ in known]
    assert len(known) >= len(expected) // 3


def test_dumps_after_passes_show_the_changes_of_later_ones(tmp_path: Path) -> None:
    columns = ("name", "function", "changed")
    expected, found = (
        passes(imported(tmp_path, *options), *columns)
        for options in ((BEFORE, AFTER, SCOPE), (AFTER,))
    )
    later = [name for name, _, _ in expected].index("symbol-dce")
    assert found[later:] == expected[later:]
    assert {changed for _, _, changed in found[later:]} == {False, True}


def test_the_module_is_put_together_from_dumps_of_functions(tmp_path: Path) -> None:
    """Between any two passes it is what the tool prints with module scope."""
    imported(tmp_path, BEFORE, AFTER, SCOPE)
    (tmp_path / "imported.adbrec").rename(tmp_path / "whole.adbrec")
    imported(tmp_path, BEFORE, AFTER)
    with (
        open_session(tmp_path / "whole.adbrec") as whole,
        open_session(tmp_path / "imported.adbrec") as parts,
    ):
        compared = 0
        for stops in some(zip(_all_stops(whole), _all_stops(parts), strict=True)):
            assert stops[0] == stops[1]
            try:
                text = parts.ir.print("module").text
            except NotRecorded:
                continue
            assert text == whole.ir.print("module").text
            compared += 1
    assert compared > 12


def _all_stops(session: Any) -> Any:
    stop = session.start()
    while stop.when != "exit":
        yield stop.when, stop.name, stop.function
        stop = session.step()


@pytest.mark.parametrize("options", [(AFTER,), (AFTER, SCOPE), (BEFORE, AFTER)], ids=" ".join)
def test_a_folder_of_dumps(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = tmp_path / "dumps"
    subprocess.run(
        tool(tmp_path, *options, f"--mlir-print-ir-tree-dir={folder}"),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    import_log(str(folder), tmp_path / "folder.adbrec")
    columns = ("name", "op", "function", "changed")
    found = passes(open_recording(tmp_path / "folder.adbrec"), *columns)
    of_log = passes(imported(tmp_path, *(one for one in options if one != SCOPE)), *columns)
    for place in some({row[1:3] for row in of_log}):  # functions are in the order of their names
        assert [row for row in found if row[1:3] == place] == [
            row for row in of_log if row[1:3] == place
        ]
    assert len(found) == len(of_log)


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    header = b"// -----// IR Dump After CSE (cse) //----- //\nmodule {\n}\n\n"
    program = subprocess.Popen(
        [COMMAND, "import", "-", "-o", str(tmp_path / "run.adbrec")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert program.stdin is not None
    program.stdin.write(header * 100_000)
    program.stdin.flush()
    wait_until(lambda: any(str(tmp_path) in file for file in open_files(program.pid)))
    program.send_signal(signal.SIGINT)
    assert program.wait() == 128 + signal.SIGINT
    assert program.stderr is not None
    assert program.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []
