"""The readers of IR's text against MLIR's own parser, over random IR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from actiondbg.ir.aliases import definitions, with_used, without_aliases
from actiondbg.ir.attributes import attributes_of
from actiondbg.ir.canonical import canonical
from actiondbg.ir.lexer import MlirLexer
from actiondbg.ir.resolved_text import ResolvedText
from actiondbg.ir.tree.outline import (
    Printed,
    find,
    last_line,
    outermost,
    symbols_in,
    without_indent,
)
from actiondbg.ir.written_locations import without_all_locations, without_trailing_locations
from actiondbg.lineage.stage import scanned_stage
from tests.elements import some
from tests.fakes.random_ir import RandomIR

ir = pytest.importorskip("mlir.ir")
SEEDS = range(60)


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with ir.Context() as made:
        made.allow_unregistered_dialects = True
        yield made


def operations_of(root: Any) -> list[tuple[Any, int]]:
    """Return each operation, in the order of the text, and the index of the one around it."""
    found: list[tuple[Any, int]] = []

    def visit(operation: Any, around: int) -> None:
        index = len(found)
        found.append((operation, around))
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    visit(inner.operation, index)

    visit(root, -1)
    return found


def symbol_of(operation: Any) -> str:
    if "sym_name" not in operation.attributes:
        return ""
    return operation.attributes["sym_name"].value


@pytest.mark.parametrize("seed", SEEDS)
def test_each_reader_reads_what_is_there(context: Any, seed: int) -> None:
    module = ir.Module.parse(RandomIR(seed).module()).operation
    operations = operations_of(module)
    symbols = [symbol_of(operation) for operation, _ in operations]
    for form in (
        {},
        {"print_generic_op_form": True},
        {"enable_debug_info": True},
        {"enable_debug_info": True, "use_local_scope": True},
    ):
        text = module.get_asm(**form)
        stage = scanned_stage(text, "it").stage
        assert list(stage.names) == [operation.name for operation, _ in operations]
        assert list(stage.parents) == [around for _, around in operations]
        assert [stage.symbols.get(index, "") for index in range(len(stage))] == symbols
        for operation, (known, _) in zip(stage, operations, strict=True):
            assert bool(operation.result) == bool(len(known.results))
            if "use_local_scope" in form:
                assert f"loc({operation.location.text})" == str(known.location)
        lines = stage.text_lines
        ends = [last_line(lines.__getitem__, len(lines), first - 1) + 1 for first in stage.lines]
        assert ends == list(stage.last_lines)
        outer = outermost(text)
        assert outer is not None
        inside = [
            (operation.name, symbol)
            for (operation, around), symbol in zip(operations, symbols, strict=True)
            if around == 0 and symbol
        ]
        assert [(one.name, one.symbol) for one in symbols_in(text, outer)] == inside
        assert "".join(token for _, _, token in MlirLexer().get_tokens_unprocessed(text)) == text


@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_those_of_the_parser(context: Any, seed: int) -> None:
    module = ir.Module.parse(RandomIR(seed).module()).operation
    text = module.get_asm()
    resolved = ResolvedText(text, None)
    values = sorted({*resolved.values, *resolved.regions})
    renamed = resolved.renamed({value: f"%new{number}" for number, value in enumerate(values)})
    assert str(ir.Module.parse(renamed)) == str(ir.Module.parse(text))
    assert canonical(renamed) == canonical(text)


@pytest.mark.parametrize("seed", SEEDS)
def test_attributes_and_locations_of_each_operation(context: Any, seed: int) -> None:
    module = ir.Module.parse(RandomIR(seed).module()).operation
    for operation, _ in some(operations_of(module)[1:]):
        text = operation.get_asm(print_generic_op_form=True, use_local_scope=True)
        known = {name: str(operation.attributes[name]) for name in operation.attributes}
        read = {name: value or "unit" for name, value in attributes_of(text)}
        assert read == known
        if "^bb" not in text:  # the locations of arguments are not at the end of the line
            located = operation.get_asm(enable_debug_info=True, use_local_scope=True)
            assert without_trailing_locations(located) == operation.get_asm(use_local_scope=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_aliases_are_written_out(context: Any, seed: int) -> None:
    module = ir.Module.parse(RandomIR(seed).module()).operation
    text = module.get_asm(enable_debug_info=True)
    plain = module.get_asm(enable_debug_info=True, use_local_scope=True)
    assert without_aliases(text).strip() == plain.strip()
    assert without_all_locations(plain).strip() == module.get_asm(use_local_scope=True).strip()


@pytest.mark.parametrize("seed", SEEDS)
def test_each_part_has_aliases_of_its_own(context: Any, seed: int) -> None:
    modules = [ir.Module.parse(RandomIR(each).module()).operation for each in range(seed, seed + 3)]
    texts = [module.get_asm(enable_debug_info=True) for module in modules]
    stage = scanned_stage("// -----\n".join(texts), "it").stage
    known = [str(each.location) for module in modules for each, _ in operations_of(module)]
    assert [f"loc({operation.location.text})" for operation in stage] == known


def test_parts_of_dumps_are_found_and_can_be_parsed(context: Any) -> None:
    found: list[tuple[str, Printed]] = []
    for seed in SEEDS:
        text = ir.Module.parse(RandomIR(seed).module()).operation.get_asm(enable_debug_info=True)
        if outer := outermost(text):
            found += ((text, part) for part in symbols_in(text, outer))
    parsed = 0
    for text, part in some(found):
        assert part in find(text, part.name, part.symbol)
        alone = with_used(without_indent(text, part), definitions(text))
        if re.search(r'^(?:%.* = )?"[^"]*"\(\)', alone, re.MULTILINE):  # it uses no other's value
            parsed += bool(ir.Module.parse(alone))
    assert parsed > len(SEEDS) / 10
