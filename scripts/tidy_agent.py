"""Run clang-tidy over the agent's translation units, in parallel, as they are compiled."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from actiondbg.tool import find_tool
from actiondbg.tool.agent_cache import AGENT_SOURCE, source_files
from actiondbg.tool.agent_compilation import write_units
from actiondbg.tool.compiler import FLAGS


def main() -> int:
    """Check all; return the exit status."""
    headers = [word for path in find_tool("mlir-opt").headers for word in ("-isystem", str(path))]
    flags = [*FLAGS, "-iquote", str(AGENT_SOURCE), *headers]
    tidy = [Path(sys.executable).with_name("clang-tidy"), "--quiet"]
    tidy.append(f"--config-file={AGENT_SOURCE / '.clang-tidy'}")
    with tempfile.TemporaryDirectory() as directory:
        units = write_units(AGENT_SOURCE, source_files(AGENT_SOURCE), Path(directory))
        running = [
            # What it counts of other headers goes to its standard error.
            subprocess.Popen([*tidy, unit, "--", *flags], stderr=subprocess.DEVNULL)
            for unit in units
        ]
        return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main())
