"""References of an agent that may stay without a definition."""

from __future__ import annotations

import struct
from pathlib import Path

from actiondbg.errors import AgentBuildError

# Of the header of a 64-bit ELF file, a section header, and a symbol: elf.h.
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC_SYMBOLS = 11
_GLOBAL, _WEAK = 1, 2
_OF_TOOL = (b"4mlir", b"4llvm")


def weaken(library: Path) -> set[bytes]:
    """Make references to functions and data of MLIR and LLVM weak, in a shared object.

    The dynamic loader then loads it in a process without them, and leaves them null. Done in the
    linked file, so that no tool but the compiler is necessary.

    Returns:
        The names of what it refers to.

    Raises:
        AgentBuildError: the compiler made no 64-bit little-endian ELF file.
    """
    content = bytearray(library.read_bytes())
    if bytes(content[:6]) != b"\x7fELF\x02\x01":
        raise AgentBuildError(
            f"The compiler made no 64-bit ELF file in {str(library)!r}: set CXX to a compiler for "
            "this machine."
        )
    header = _HEADER.unpack_from(content)
    offset, entry_size, count = header[6], header[11], header[12]
    sections = [_SECTION.unpack_from(content, offset + i * entry_size) for i in range(count)]
    changed: set[bytes] = set()
    for section in sections:
        if section[1] != _DYNAMIC_SYMBOLS:
            continue
        names: int = _SECTION.unpack_from(content, offset + section[6] * entry_size)[4]
        for at in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, info, _, index, _, _ = _SYMBOL.unpack_from(content, at)
            if index != 0 or info >> 4 != _GLOBAL:
                continue
            begin = names + int(name)
            text = content[begin : content.index(0, begin)]
            if text.startswith(b"_Z") and any(word in text for word in _OF_TOOL):
                content[at + 4] = _WEAK << 4 | info & 15
                changed.add(bytes(text))
    library.write_bytes(content)
    return changed
