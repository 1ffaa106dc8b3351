"""Write the tables and the answers of docs/mcp.md anew, from the server and from mlir-opt."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from actiondbg.tool import find_tool  # noqa: E402
from tests.tool.mcp.page import PAGE, updated  # noqa: E402


def main() -> int:
    """Write the page; return the exit status."""
    PAGE.write_text(updated(PAGE.read_text(), str(find_tool("mlir-opt").path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
