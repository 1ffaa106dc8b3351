"""Where the repository's files are that tests read, and the command that they run."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
INPUTS = ROOT / "tests" / "inputs"
COMMAND = str(Path(sys.executable).with_name("actiondbg"))
