"""The samples as a CSV file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from actiondbg.recording.format.arrow import pa, word_array
from actiondbg.recording.statistics.samples import Floats, Samples, SampleTexts
from actiondbg.recording.tables.actions import column_of_event

CSV_NAME = "samples.csv"


def write_csv(samples: Samples, directory: Path) -> Path:
    """Write one line per action to ``samples.csv``; missing counts are empty.

    Args:
        samples: the samples.
        directory: the folder of the file, created if missing.

    Raises:
        OSError: the file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Any] = {
        "ordinal": samples.ordinal,
        "thread": samples.thread,
        "tag": _strings(samples.tag),
        "name": _strings(samples.name),
        "full_name": _strings(samples.full_name),
        "start_ns": _nullable_integers(samples.start),
        "duration_ns": _nullable_integers(samples.duration),
        **{
            column_of_event(name): _nullable_integers(values)
            for name, values in samples.events.items()
        },
    }
    path = directory / CSV_NAME
    import_module("pyarrow.csv").write_csv(pa.table(columns), str(path))
    return path


def _strings(texts: SampleTexts) -> Any:
    return word_array(texts.codes, texts.values).dictionary_decode()


def _nullable_integers(values: Floats) -> Any:
    """Return integers; NaN becomes null."""
    return pa.array(values, from_pandas=True).cast(pa.int64())
