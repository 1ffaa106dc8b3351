"""The samples themselves, as a file of comma-separated values."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from actiondbg.recording.format.arrow import pa, word_array
from actiondbg.recording.statistics.samples import Floats, Samples, SampleTexts
from actiondbg.recording.tables.actions import column_of_event

CSV_NAME = "samples.csv"


def write_csv(samples: Samples, directory: Path) -> Path:
    """Write one line an action into ``samples.csv``; what was not counted is empty.

    Args:
        samples: of the actions.
        directory: is made if it is not there.

    Raises:
        OSError: it cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Any] = {
        "ordinal": samples.ordinal,
        "thread": samples.thread,
        "tag": _strings(samples.tag),
        "name": _strings(samples.name),
        "full_name": _strings(samples.full_name),
        "start_ns": _whole(samples.start),
        "duration_ns": _whole(samples.duration),
        **{column_of_event(name): _whole(values) for name, values in samples.events.items()},
    }
    path = directory / CSV_NAME
    import_module("pyarrow.csv").write_csv(pa.table(columns), str(path))
    return path


def _strings(texts: SampleTexts) -> Any:
    return word_array(texts.codes, texts.values).dictionary_decode()


def _whole(values: Floats) -> Any:
    """Return whole numbers; what is not a number is null."""
    return pa.array(values, from_pandas=True).cast(pa.int64())
