"""What to do where a program cannot be started."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest

from actiondbg.errors import LaunchError
from actiondbg.tool import identification
from actiondbg.tool.identification import LoadedLibraries


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "raise the limit of open files (ulimit -n)"),
        (OSError(errno.ENFILE, "Too many open files"), "raise the limit of open files (ulimit -n)"),
        (OSError(errno.ENOEXEC, "Exec format error"), "use a tool built for it"),
        (subprocess.TimeoutExpired("tool", 30), "use a tool built for it"),
    ],
)
def test_the_advice_fits_the_error(
    error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(identification, "answer_of", fail)
    with pytest.raises(LaunchError) as raised:
        LoadedLibraries(Path("/x/tool"))
    assert str(raised.value).endswith(f": {advice}.")
