"""The API reference is built, without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT


def test_the_reference_documents_the_session_and_its_errors(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, ROOT / "scripts/build_reference.py", tmp_path],
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert 'id="Session.next_change"' in (tmp_path / "actiondbg.html").read_text()
    assert 'id="NotRecorded"' in (tmp_path / "actiondbg/errors.html").read_text()
    assert (tmp_path / "actiondbg/recording/query/database.html").is_file()
