"""Destinations of elementwise operations, of which a schedule makes tiles."""

from __future__ import annotations

import re

_ELEMENTWISE = re.compile(
    r"^(?P<indent> *)(?P<head>%\w+ = linalg\.generic [^\n]*?"
    r"\bins\((?P<inputs>[^:\n]*) : [^\n]*?\) outs\()"
    r"(?P<destination>%\w+)(?P<tail> : (?P<type>tensor<[^>\n]*>)\)[^\n]*\n"
    r" *\^bb0\((?P<arguments>[^\n]*)\):\n(?P<body>.*?)^ *\} -> )",
    re.MULTILINE | re.DOTALL,
)


def with_own_destinations(function: str) -> str:
    """Return a function in which no elementwise operation overwrites an operand of its own.

    Fusion into the tiles of a schedule computes what an operation reads, and again what it
    overwrites: a convolution would be computed twice. The buffer is the same in the end.
    """
    made = 0

    def own(found: re.Match[str]) -> str:
        nonlocal made
        old = found["arguments"].rpartition("%")[2].partition(":")[0].strip()
        inputs = found["inputs"].split(", ")
        if found["destination"] not in inputs or re.search(rf"%{old}\b", found["body"]):
            return found[0]
        made += 1
        name = f"%own_{made}"
        empty = f"{found['indent']}{name} = tensor.empty() : {found['type']}\n"
        return f"{empty}{found['indent']}{found['head']}{name}{found['tail']}"

    return _ELEMENTWISE.sub(own, function)
