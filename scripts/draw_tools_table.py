"""Write the table of tools by capabilities in docs/tools.md anew, from runs of all compilers.

scripts/setup-tools installs them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.tool.targets.table import COLUMNS, measured, write  # noqa: E402
from tests.tool.targets.targets import TARGETS  # noqa: E402


def main() -> int:
    """Write the table; return the exit status."""
    missing = [reason for name in COLUMNS if (reason := TARGETS[name].missing)]
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 1
    write(measured(COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
