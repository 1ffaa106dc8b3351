"""The lineage of a recorded run, and what a test asks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actiondbg.lineage.lineage import Tracking
from actiondbg.lineage.recorded.recorded_lineage import RecordedLineage
from actiondbg.recording import open_recording
from actiondbg.recording.capture.recorder import record


def lineage_of(tool: str, source: str, *args: str, **how: Any) -> RecordedLineage:
    Path("in.mlir").write_text(source)
    done = record([tool, "in.mlir", *args, "-o", "out.mlir"], "run.adbrec", lineage=True, **how)
    assert done.status == 0 and done.path is not None
    return RecordedLineage(open_recording(done.path))


def ways(tracking: Tracking) -> list[tuple[str, list[str]]]:
    """Return the name of each operation that was reached, and the evidence on the way."""
    return [
        (trace.operation.name, [str(step.evidence) for step in trace.steps])
        for trace in tracking.traces
    ]


def from_line(lineage: RecordedLineage, line: int, **how: bool) -> Tracking:
    """Track the operations of a line of the input."""
    first = lineage.stages[0]
    operations = [one for one in first if one.location.text.startswith(f'"in.mlir":{line}:')]
    assert operations
    return lineage.track(operations, lineage.stages[-1], **how)
