"""The packages that only recordings need."""

from __future__ import annotations

from importlib.util import find_spec

from actiondbg.errors import ActiondbgError

READING = ("duckdb", "pyarrow", "numpy")


def need_packages(
    what: str, packages: tuple[str, ...] = READING, extra: str = "recordings"
) -> None:
    """Refuse to go on without some packages.

    Args:
        what: needs them, such as "actiondbg query".
        packages: their names.
        extra: the extra of actiondbg that installs them.

    Raises:
        ActiondbgError: one of them is not installed.
    """
    if all(find_spec(package) is not None for package in packages):
        return
    *first, last = packages
    names = f"packages {', '.join(first)} and {last}" if first else f"package {last}"
    raise ActiondbgError(f"{what} needs the {names}: pip install 'actiondbg[{extra}]'.")
