"""Dumps: the IR that MLIR printed before or after a pass, under a header line."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from actiondbg.ir.tokens import STRING, unescaped

MARK = b"// -----// "  # the beginning of a header, and of other lines between dumps
_HEADER = re.compile(r"// -----// IR Dump (Before|After) (.*?) //----- //\s*$")
# With module scope: the operation of the pass, which is not that of the text.
_SCOPE = re.compile(r" \('([^']*)' operation(?:: @(.*))?\)$")
_NEW_FORM = re.compile(r"(\S+?)( Failed)?: (.*)$", re.DOTALL)  # CLASS: ARGUMENT{OPTIONS}
_OLD_FORM = re.compile(r"(.+?)( Failed)?(?: \(([^()]*)\))?$")  # CLASS (ARGUMENT)


class DumpHeader(NamedTuple):
    """The header of a dump.

    Attributes:
        when: whether the pass had run.
        name: the argument of the pass without its options; its class if it has none.
        full_name: its class.
        scope: name and symbol of the operation on which the pass ran, if the text is the module
            around it; None otherwise.
        line: its line in the log, from 1.
    """

    when: Literal["before", "after"]
    name: str
    full_name: str
    failed: bool
    scope: tuple[str, str] | None
    line: int


class Dump(NamedTuple):
    """A dump, and the messages of errors between the dump before and this one."""

    header: DumpHeader
    text: str
    errors: tuple[str, ...] = ()


def parse_header(text: str, line: int) -> DumpHeader | None:
    """Parse a header line, which may have other text before it; None for any other line."""
    found = _HEADER.search(text)
    if found is None:
        return None
    when, rest = found.groups()
    scope = _SCOPE.search(rest)
    if scope is not None:
        rest = rest[: scope.start()]
    form = _NEW_FORM.match(rest) or _OLD_FORM.match(rest)
    full_name, failed, argument = form.groups() if form is not None else (rest, None, None)
    return DumpHeader(
        when="before" if when == "Before" else "after",
        name=(argument or "").partition("{")[0].strip() or full_name,
        full_name=full_name,
        failed=failed is not None,
        scope=None if scope is None else (scope[1], _unquoted(scope[2] or "")),
        line=line,
    )


def _unquoted(symbol: str) -> str:
    """Return a symbol of a header: some versions print it with quotes."""
    return unescaped(symbol[1:-1]) if re.fullmatch(STRING, symbol) else symbol


def split_ir(body: str) -> tuple[str, str]:
    """Split the lines under a header into the IR and what follows it, such as diagnostics.

    MLIR prints an empty line after the IR; a custom printer may print one inside it.
    """
    body = body.rstrip("\n")
    at = body.find("\n\n")
    while at >= 0:
        if is_whole(body[:at]):
            return body[:at], body[at:].strip("\n")
        at = body.find("\n\n", at + 2)
    return body, ""


def is_whole(text: str) -> bool:
    """Whether a text has the end of its outermost operation."""
    lines = [line for line in text.split("\n") if line[:1] not in ("", " ", "#", "!")]
    if not lines:
        return False
    return lines[-1][:1] in "})" or not lines[0].rstrip().endswith(("{", "(", "[", ","))
