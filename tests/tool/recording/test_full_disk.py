"""What a user reads when there is no room for what was asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.paths import COMMAND


def test_print_to_a_full_disk_is_reported_and_nothing_is_lost(mlir_opt: str, folds: str) -> None:
    commands = ["start", "print module > /dev/full", "print module > whole.mlir"]
    run = subprocess.run(
        [
            *(COMMAND, "-nx", "--batch", "--keep-going"),
            *(word for command in commands for word in ("-ex", command)),
            *(mlir_opt, folds, "--canonicalize"),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "'/dev/full' cannot be written (No space left on device)" in run.stderr
    assert "func.func @twice" in Path("whole.mlir").read_text()
