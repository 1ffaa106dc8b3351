"""A program whose wrong output depends on the tool's addresses.

Its integer range analysis keeps what it knows of a value by the value's address; a value that
gets the address of an erased one inherits that (issue 126195 of llvm-project, fixed after 22).
So the last value that the program prints, which is not known, becomes one of the constants.
"""

from __future__ import annotations

import re
from pathlib import Path

PASS = "--int-range-optimizations"
_BRANCHES = 7
_SHIFTS = 3  # constants that shift the addresses
_LAST = re.compile(r"vector\.print (%\S+) : index\n\s+return")


def write_branches(path: Path) -> str:
    """Write the program; return the name of the file."""
    lines = [
        "func.func @main() {",
        "  %true = llvm.mlir.constant(true) : i1",
        "  %number = llvm.mlir.constant(100 : index) : i64",
        "  %unknown = builtin.unrealized_conversion_cast %number : i64 to index",
        "  %false = index.bool.constant false",
    ]
    for number in range(_SHIFTS):
        value = f"%shift{number}"
        lines += [
            f"  {value} = arith.constant {500 + number} : index",
            f"  vector.print {value} : index",
        ]
    lines += [f"  %c{number} = index.constant {number + 1}" for number in range(_BRANCHES)]
    for number in range(_BRANCHES):
        condition = "%true" if number == _BRANCHES - 1 else "%false"
        lines += [
            f"  cf.cond_br {condition}, ^then{number}, ^else{number}",
            f"^then{number}:",
            f"  cf.br ^join{number}(%unknown : index)",
            f"^else{number}:",
            f"  cf.br ^join{number}(%c{number} : index)",
            f"^join{number}(%value{number}: index):",
            f"  cf.br ^next{number}",
            f"^next{number}:",
            f"  vector.print %value{number} : index",
        ]
    path.write_text("\n".join([*lines, "  return", "}", ""]))
    return path.name


def last_printed(output: str) -> str:
    """Return the value that an output prints last: a constant such as %c3 is wrong."""
    found = _LAST.search(output)
    assert found is not None, output
    return found[1]
