"""Run clang-tidy over the agent's translation units, in parallel, as they are compiled."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from actiondbg.tool.agent_compilation import include_flags, write_units
from actiondbg.tool.compiler import FLAGS
from actiondbg.tool.shipped import AGENT_SOURCE


def main() -> int:
    """Check all; return the exit status."""
    tidy = [Path(sys.executable).with_name("clang-tidy"), "--quiet"]
    tidy.append(f"--config-file={AGENT_SOURCE / '.clang-tidy'}")
    with tempfile.TemporaryDirectory() as directory:
        units = write_units(AGENT_SOURCE, Path(directory))
        running = [
            # What it counts of other headers goes to its standard error.
            subprocess.Popen(
                [*tidy, unit, "--", *FLAGS, *include_flags()], stderr=subprocess.DEVNULL
            )
            for unit in units
        ]
        return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main())
