"""The optional packages of recordings."""

from __future__ import annotations

from importlib.util import find_spec

from actiondbg.errors import ActiondbgError

READING = ("duckdb", "pyarrow", "numpy")


def need_packages(
    what: str, packages: tuple[str, ...] = READING, extra: str = "recordings"
) -> None:
    """Require optional packages.

    Args:
        what: the feature that needs them, such as "actiondbg query".
        packages: the names of the packages.
        extra: actiondbg's extra that installs them.

    Raises:
        ActiondbgError: a package is not installed.
    """
    if all(find_spec(package) is not None for package in packages):
        return
    *first, last = packages
    names = f"packages {', '.join(first)} and {last}" if first else f"package {last}"
    raise ActiondbgError(f"{what} needs the {names}: pip install 'actiondbg[{extra}]'.")
