"""Dumps that users name on the command line: files of IR, read as the stages of a lineage."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from actiondbg.errors import UsageError
from actiondbg.lineage.dumps.dump_lineage import DumpLineage
from actiondbg.lineage.locations.source_files import FileRemap, parse_remap, same_file
from actiondbg.lineage.scanned_stage import ScannedStage, scanned_stage
from actiondbg.lineage.stage import Stage


class DumpFiles(NamedTuple):
    """The lineage of files, and sentences about what could not be used of them."""

    lineage: DumpLineage
    notes: tuple[str, ...]


def read_dumps(
    files: Sequence[str], *, remap: Sequence[str] = (), partial: bool = False
) -> DumpFiles:
    """Read dumps, in the order of the compilation; ``-`` is standard input.

    Args:
        files: their paths.
        remap: ``OLD=NEW`` names of source files; ``%i`` is the first dump, ``%t`` the second.
        partial: use what can be read of a dump whose brackets do not match.

    Raises:
        UsageError: a file cannot be read, a dump is not IR, or a remap is invalid.
        BrokenText: the brackets of a dump do not match.
    """
    stages: list[Stage] = []
    notes: list[str] = []
    own = _own_files(files)
    pairs = [parse_remap(_with_placeholders(one, [own[file] for file in files])) for one in remap]
    texts = {file: _text(file) for file in own}  # standard input can be read only once
    for file in files:
        scanned = _scanned(file, texts[file], own[file], sum(map(len, stages)), partial)
        stages.append(scanned.stage)
        notes.extend([scanned.note] if scanned.note not in ("", *notes) else [])
    lineage = DumpLineage(stages, FileRemap(pairs))
    unused = lineage.unused_remap() if pairs else ""
    if unused:
        raise UsageError(unused)
    return DumpFiles(lineage, tuple(notes))


def _own_files(files: Sequence[str]) -> dict[str, str]:
    """Return the file that the locations of each dump without locations name."""
    own = {file: "<stdin>" if file == "-" else file for file in files}
    if any(same_file(one, two) for one, two in combinations(own.values(), 2) if one != two):
        # a.mlir is the end of b/a.mlir, but not the same file.
        own = {
            file: name if file == "-" else str(Path(name).absolute()) for file, name in own.items()
        }
    return own


def _scanned(file: str, text: str, own_file: str, first_node: int, partial: bool) -> ScannedStage:
    name = "standard input" if file == "-" else file
    scanned = scanned_stage(text, name, file=own_file, first_node=first_node, partial=partial)
    if not len(scanned.stage):
        raise UsageError(f"{name} has no operations: is it the text of an IR?")
    return scanned


def _text(file: str) -> str:
    # MLIR counts columns in bytes: each byte that is no UTF-8 must stay one.
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file!r} cannot be read: {error.strerror or error}.") from error
    if data.startswith(b"ML\xefR"):
        raise UsageError(f"{file!r} is bytecode: print it as text with mlir-opt.")
    return data.decode(errors="surrogateescape")


def _with_placeholders(remap: str, files: Sequence[str]) -> str:
    names = {"%i": files[0], "%t": files[1] if len(files) > 1 else ""}
    return "=".join(names.get(part.strip(), part) for part in remap.split("="))
