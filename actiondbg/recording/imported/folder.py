"""A folder of ``--mlir-print-ir-tree-dir`` as dumps."""

from __future__ import annotations

import re
from pathlib import Path

from actiondbg.ir.aliases import definitions, with_used
from actiondbg.recording.imported.dump import Dump
from actiondbg.recording.imported.printed_operation import find, without_indent

_NUMBERS = re.compile(r"(\d+(?:_\d+)*)_")  # one of each operation from the outermost one
_SUFFIX = ".mlir"

# Of each folder on the way, the number of the pass, and the next folder; the pass itself is first.
Key = tuple[tuple[int, str], ...]


def dump_files(folder: Path) -> list[Path]:
    """Return the files of a folder of dumps in the order in which MLIR wrote them.

    Those of operations that do not contain each other are in the order of their names: passes on
    them may have run at the same time.
    """
    found: list[tuple[Key, Path]] = []
    for file in folder.rglob(f"*{_SUFFIX}"):
        numbers = _NUMBERS.match(file.name)
        if numbers is not None:
            found.append((_key(folder, file, numbers[1]), file))
    return [file for _, file in sorted(found)]


def _key(folder: Path, file: Path, numbers: str) -> Key:
    counts = [int(number) for number in numbers.split("_")]
    folders = file.relative_to(folder).parts[:-1]
    inner = [*folders[len(folders) - len(counts) + 1 :], ""]
    outer = tuple((0, name) for name in folders[: len(folders) - len(counts) + 1])
    return outer + tuple(zip(counts, inner, strict=False))


def narrowed(dump: Dump) -> Dump:
    """Return a dump of the operation of a pass alone, if it is one of the module around it.

    The order of passes on different functions is unknown: the rest of the module may be older or
    newer than that of the dump before.
    """
    scope = dump.header.scope
    found = find(dump.text, *scope) if scope is not None and scope[1] else []
    if len(found) != 1:
        return dump
    text = with_used(without_indent(dump.text, found[0]), definitions(dump.text))
    return dump._replace(header=dump.header._replace(scope=None), text=text)
