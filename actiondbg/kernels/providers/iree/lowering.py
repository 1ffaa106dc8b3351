"""How IREE lowers an operation: the attributes that decide it, written, read back and replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Dialect = Literal["iree_cpu", "iree_gpu"]

_CONFIG = re.compile(r"lowering_config = #(iree_\w+)\.lowering_config<")
_TRANSLATION = re.compile(r"translation_info = #iree_codegen\.translation_info<")
# Older versions print the name alone.
_PIPELINE = re.compile(r"pipeline=(?:#iree_\w+\.pipeline<)?(\w+)")
_OPERATION = re.compile(r"= (\w+\.\w+) ")
_ATTRIBUTES = re.compile(r" (?:attrs = +)?\{$")
_VECTOR = "vector_common_parallel"
_OPENING, _CLOSING = "<[{(", ">]})"


@dataclass(frozen=True)
class Lowering:
    """The attributes of a root operation.

    Attributes:
        dialect: of the attributes: the CPU's or the GPUs'.
        config: the entries of the lowering_config, as MLIR; "" for an entry without a value.
        translation: what follows the pipeline in the translation_info, as MLIR; begins with the
            blank or comma that parts them.
    """

    dialect: Dialect
    config: Mapping[str, str]
    pipeline: str
    translation: str = ""

    @property
    def lowering_config(self) -> str:
        """The attribute of the operation."""
        pairs = sorted(self.config.items())  # as IREE prints them
        entries = ", ".join(f"{key} = {value}" if value else key for key, value in pairs)
        content = f"{{{entries}}}" if self.dialect == "iree_gpu" else entries
        return f"#{self.dialect}.lowering_config<{content}>"

    @property
    def compilation_info(self) -> str:
        """The attribute of an operation of a program, which IREE hands on to its dispatch."""
        return (
            f"compilation_info = #iree_codegen.compilation_info<"
            f"lowering_config = {self.lowering_config}, "
            f"translation_info = {self.translation_info}>"
        )

    @property
    def translation_info(self) -> str:
        """The attribute of the function of the operation's dispatch."""
        return (
            f"#iree_codegen.translation_info<"
            f"pipeline = #{self.dialect}.pipeline<{self.pipeline}>{self.translation}>"
        )


@dataclass(frozen=True)
class LoweredOperation:
    """An operation of the stage ``executable-configurations`` that has a lowering_config.

    Attributes:
        operation: its name, such as ``linalg.generic``.
        config: the entries of its lowering_config; values without blanks.
        translation: the translation_info of its function, without blanks.
        span: where the lowering_config is in the text of the stage.
        function_span: where the translation_info is.
    """

    operation: str
    config: Mapping[str, str]
    translation: str
    span: tuple[int, int]
    function_span: tuple[int, int]

    def has(self, lowering: Lowering) -> bool:
        """Whether these are the attributes of a lowering."""
        wanted = {key: _compact(value) for key, value in lowering.config.items()}
        return self.config == wanted and self.translation == _compact(lowering.translation_info)

    @property
    def pipeline(self) -> str:
        found = _PIPELINE.search(self.translation)
        return found.group(1) if found else ""

    @property
    def levels(self) -> int:
        """The number of the operation's loops, by its longest list of tile sizes."""
        lists = [value for value in self.config.values() if re.fullmatch(r"\[[\d,]+\]", value)]
        return max((value.count(",") + 1 for value in lists), default=0)

    def __str__(self) -> str:
        entries = ", ".join(f"{key} {value}".strip() for key, value in sorted(self.config.items()))
        return f"{entries} by {self.pipeline}"


def read_lowerings(stage: str) -> list[LoweredOperation]:
    """Return the operations of a stage that have a lowering_config, in their order."""
    found: list[LoweredOperation] = []
    functions = [
        (match.end() - len("#iree_codegen.translation_info<"), _closing(stage, match.end() - 1) + 1)
        for match in _TRANSLATION.finditer(stage)
    ]
    for match in _CONFIG.finditer(stage):
        end = _closing(stage, match.end() - 1)
        content = stage[match.end() : end].removeprefix("{").removesuffix("}")
        line = stage[stage.rfind("\n", 0, match.start()) + 1 : match.start()]
        operation = _OPERATION.search(line)
        start, stop = max((each for each in functions if each[0] < match.start()), default=(0, 0))
        found.append(
            LoweredOperation(
                operation.group(1) if operation else "",
                dict(_entry(each) for each in _split(content)),
                _compact(stage[start:stop]),
                (match.start() + len("lowering_config = "), end + 1),
                (start, stop),
            )
        )
    return found


def find_root(operations: Sequence[LoweredOperation], loops: int) -> LoweredOperation | None:
    """Return the operation that decides how its dispatch is tiled, or None."""
    return next((each for each in find_roots(operations) if each.levels == loops), None)


def find_roots(operations: Sequence[LoweredOperation]) -> list[LoweredOperation]:
    """Return the operations that decide how their dispatches are tiled."""
    return [each for each in operations if {"distribution", "workgroup"} & each.config.keys()]


def operation_text(stage: str, operation: LoweredOperation) -> str:
    """Return the text of an operation, its body included, without its result and its lowering."""
    start, end = operation.span
    before = stage[stage.rfind("\n", 0, start) + 1 : start].removesuffix("lowering_config = ")
    line = stage[end : stage.find("\n", end)]
    if line.endswith("{"):
        closing = _closing(stage, end + len(line) - 1)
        line = stage[end : stage.find("\n", closing)]
    before = before.partition("= ")[2]
    if before.endswith("{") and line.startswith("}"):  # it was the only attribute
        return _ATTRIBUTES.sub("", before) + line.removeprefix("}")
    return before.removesuffix(", ") + line.removeprefix(", " if before.endswith("{") else "")


def replace_lowering(
    stage: str, operations: Sequence[LoweredOperation], root: LoweredOperation, new: Lowering
) -> str:
    """Return a stage with another lowering of its root.

    Operations that have been fused with the root are vectorized as it is: their sizes, which are
    those of the root's parallel loops, follow.
    """
    follower = {_VECTOR: _without_zeros(root.config.get(_VECTOR, ""))}
    vector = _without_zeros(new.config[_VECTOR]) if _VECTOR in new.config else ""
    for each in reversed(operations):
        start, end = each.span
        if each is root:
            stage = f"{stage[:start]}{new.lowering_config}{stage[end:]}"
        elif vector and each.config == follower:
            text = f"#{new.dialect}.lowering_config<{_VECTOR} = {vector}>"
            stage = f"{stage[:start]}{text}{stage[end:]}"
    start, end = root.function_span  # before the operations: its place has not moved
    return f"{stage[:start]}{new.translation_info}{stage[end:]}" if end else stage


def _without_zeros(sizes: str) -> str:
    """Return a list of sizes without those of loops that are not tiled: the reductions."""
    kept = [each for each in sizes.strip("[]").replace(" ", "").split(",") if each != "0"]
    return f"[{','.join(kept)}]"


def _entry(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key.strip(), _compact(value)


def _compact(text: str) -> str:
    return "".join(text.split())


def _split(text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    parts, depth, start = list[str](), 0, 0
    for index, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [each for each in (*parts, text[start:]) if each.strip()]


def _closing(text: str, opening: int) -> int:
    """Return the position of the bracket that closes the one at a position."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] in _OPENING) - (text[index] in _CLOSING)
        if depth == 0:
            return index
    return len(text)
