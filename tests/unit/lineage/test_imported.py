"""The lineage of an import: stages that are scanned when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from actiondbg.cli import main
from actiondbg.errors import UsageError
from actiondbg.lineage.dumps.imported_lineage import imported_lineage, stages_of
from actiondbg.recording import open_recording
from actiondbg.recording.imported.importer import import_log
from actiondbg.recording.recording import Recording
from tests.paths import ROOT

LOGS = ROOT / "tests/inputs/logs"


def imported(log: Path, folder: Path) -> Recording:
    import_log(str(log), folder / "run.adbrec")
    return open_recording(folder / "run.adbrec")


def test_stages_are_the_modules_that_differ(tmp_path: Path) -> None:
    stages = stages_of(imported(LOGS / "both.log", tmp_path))
    assert [stage.name for stage in stages] == ["input", "after cse #4", "after symbol-dce #8"]
    assert [len(stage.named("func.func")) for stage in stages] == [3, 3, 2]
    nodes = [node for stage in stages for node in stage.nodes]
    assert sorted(set(nodes)) == nodes
    assert [stage.first_node for stage in stages] == [stage.nodes[0] for stage in stages]


def test_a_stage_is_scanned_once_and_when_it_is_used(tmp_path: Path) -> None:
    stages = stages_of(imported(LOGS / "both.log", tmp_path))
    assert not hasattr(stages[0], "_nothing")
    assert "text" not in vars(stages[0])
    assert stages[0].text is stages[0].text


def test_operations_are_tracked_by_locations(tmp_path: Path) -> None:
    lineage = imported_lineage(imported(LOGS / "both.log", tmp_path))
    source, target = lineage.stages[0], lineage.stages[-1]
    [addition] = [one for one in source.named("arith.addi") if one.location.text == '"in.mlir":5:8']
    found = lineage.track([addition], target)
    assert [one.name for one in found.operations] == ["arith.constant", "arith.addi"]
    back = lineage.track(found.operations, source)
    assert addition.node in {one.node for one in back.operations}


def test_stages_are_put_together_from_dumps_of_functions(tmp_path: Path) -> None:
    stages = stages_of(imported(LOGS / "iree.log", tmp_path))
    names = [stage.name for stage in stages]
    assert names[:4] == [
        "after iree-auto-input-conversion #1",
        "after iree-import-public #2",
        "after iree-abi-wrap-entry-points #7",
        "after canonicalize #10",
    ]
    assert stages[0].named("linalg.matmul")
    assert stages[3].with_symbol("_mm")


def test_a_log_without_modules_or_locations(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.adbrec has no source locations: import a log"):
        imported_lineage(imported(LOGS / "iree.log", tmp_path))
    log = tmp_path / "x.log"
    log.write_text("// -----// IR Dump After CSE (cse) //----- //\nmodule {\n}\n\n")
    with pytest.raises(UsageError, match=r"does not show the module before and after a pass"):
        stages_of(imported(log, tmp_path))


def test_a_log_in_which_nothing_changed(tmp_path: Path) -> None:
    dump = "// -----// IR Dump {} CSE (cse) //----- //\nmodule {{\n}}\n\n"
    log = tmp_path / "x.log"
    log.write_text(dump.format("Before") + dump.format("After"))
    assert [one.name for one in stages_of(imported(log, tmp_path))] == ["input", "after cse #1"]


def test_the_command_line_reads_an_import(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run.adbrec")
    import_log(str(LOGS / "both.log"), run)
    assert main(["track", run, "--from", "in.mlir:5"]) == 0
    out = capsys.readouterr().out
    assert "  became 2 operations of the IR after symbol-dce #8, by location:\n" in out
    assert main(["lineage", "--remap", "in.mlir=other.mlir", run, "--kinds", "arith.*"]) == 0
    assert "arith.addi" in capsys.readouterr().out
