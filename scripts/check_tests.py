"""Find tests that cannot fail: assertions that are missing, may never run, or are always true.

The rules, over ``tests/**/test_*.py``:

- a test asserts something, itself or by a helper of the tests, on each way through it;
- what a loop or ``all`` goes over is asserted not to be empty, as by ``some`` of tests/elements.py,
  unless it is a literal or a constant;
- no assertion is ``A or B``: it would hold for the wrong reason;
- no table of cases has a predicate that is true for everything;
- no expectation is changed to what it is compared with.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, TypeGuard

ROOT = Path(__file__).resolve().parent.parent / "tests"
_FAILING = {"raises", "fail", "warns", "assert_outcomes"}  # of pytest
# What has as many elements as its arguments, or as the value whose method it is.
_SAME_SIZE = {
    *("enumerate", "reversed", "sorted", "list", "tuple", "set", "zip", "map", "product"),
    *("items", "keys", "values"),
}
Finding: TypeAlias = tuple[int, str]  # the line and the fault


def called(node: ast.AST) -> str | None:
    """Return the name of the function or method that a node calls; None if it is no call."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
        case _:
            return None


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def asserting_helpers(trees: Iterable[ast.Module]) -> set[str]:
    """Return the names of the functions that assert something, themselves or by one another."""
    helpers = [one for tree in trees for one in functions(tree) if not one.name.startswith("test_")]
    found = set(_FAILING)
    size = 0
    while len(found) > size:
        size = len(found)
        found |= {one.name for one in helpers if any(map(Assertions(found).is_one, ast.walk(one)))}
    return found


class Assertions:
    """Recognises assertions.

    Args:
        helpers: the names of the functions that assert something.
    """

    def __init__(self, helpers: set[str]) -> None:
        self._helpers = helpers

    def is_one(self, node: ast.AST) -> bool:
        """Whether a node is an assertion, or calls a function that has one."""
        return isinstance(node, ast.Assert) or called(node) in self._helpers

    def are_in(self, *nodes: ast.AST) -> bool:
        """Whether there is an assertion anywhere in nodes."""
        return any(self.is_one(each) for node in nodes for each in ast.walk(node))


class Filled:
    """What cannot be empty in a function: literals and constants, and what is made of these.

    Args:
        tree: the module.
        function: of the module.
    """

    def __init__(self, tree: ast.Module, function: ast.FunctionDef) -> None:
        self._names: set[str] = set()
        for statement in itertools.chain(tree.body, ast.walk(function)):
            match statement:
                case ast.ImportFrom(names=names):
                    self._names |= {one.name for one in names if one.name.isupper()}
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self.has(value):
                    self._names.add(name)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._names |= {name} if self.has(value) else set()
                case _:
                    pass

    def has(self, node: ast.expr) -> bool:
        """Whether the value of an expression cannot be empty."""
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return any(
                    not isinstance(one, ast.Starred) or self.has(one.value) for one in elements
                )
            case ast.Dict(keys=keys):
                return bool(keys)
            case ast.Constant(value=value):
                return bool(value)
            case ast.Name(id=name):
                return name in self._names
            case ast.Attribute(attr=name):
                return name.isupper()
            case ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.GeneratorExp():
                return all(self.has(one.iter) and not one.ifs for one in node.generators)
            case ast.BinOp(left=left, op=ast.Add() | ast.BitOr(), right=right):
                return self.has(left) or self.has(right)
            case ast.Call():
                return self._call(node)
            case _:
                return False

    def _call(self, node: ast.Call) -> bool:
        name = called(node)
        if name == "some":
            return True
        if name == "range":
            return self.has(node.args[:2][-1])
        return name in _SAME_SIZE and all(map(self.has, sources(node)))


def sources(node: ast.expr) -> list[ast.expr]:
    """Return what an iterable has its elements from: itself, or the arguments of zip and others."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return sources(node.value)
    name = called(node)
    if not isinstance(node, ast.Call) or name not in _SAME_SIZE:
        return [node]
    inner = node.args[name == "map" :]
    if not inner and isinstance(node.func, ast.Attribute):
        inner = [node.func.value]
    return [one for each in inner for one in sources(each)]


def expressions(node: ast.AST, *, but: ast.AST | None = None) -> Iterator[str]:
    """Yield the text of each expression in a node, without those in another node."""
    if node is but:
        return
    if isinstance(node, ast.expr):
        yield ast.unparse(node)
    for each in ast.iter_child_nodes(node):
        yield from expressions(each, but=but)


def root(node: ast.AST) -> str | None:
    """Return the variable of an attribute or element, such as x of ``x.y[0]``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class TestAudit:
    """Audits one test.

    Args:
        tree: the module of the test.
        test: the test.
        assertions: recognises assertions.
    """

    def __init__(self, tree: ast.Module, test: ast.FunctionDef, assertions: Assertions) -> None:
        self._test = test
        self._assertions = assertions
        self._filled = Filled(tree, test)
        self._sure = list(self._surely_run(test.body))
        # Of many random examples some are empty.
        self._has_examples = any(called(one) == "given" for one in test.decorator_list)

    def findings(self) -> Iterator[Finding]:
        """Yield the line and the fault of each finding."""
        if not self._assertions.are_in(*self._test.body):
            yield self._test.lineno, "the test asserts nothing"
        elif not self._always(self._test.body):
            yield self._test.lineno, "the test may end without an assertion"
        for node in ast.walk(self._test):
            match node:
                case ast.For(iter=iterable, body=body) if self._assertions.are_in(*body):
                    yield from self._elements(iterable)
                case ast.While():
                    yield from self._turns(node)
                case ast.Assert(test=ast.BoolOp(op=ast.Or())):
                    yield node.lineno, "an assertion is 'A or B': assert what holds in which case"
                case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp(generators=parts)]):
                    yield from self._elements(parts[0].iter, but=node)
                case _:
                    pass

    def _surely_run(self, nodes: Iterable[ast.AST]) -> Iterator[ast.Assert]:
        """Yield the assertions outside of loops that may not run."""
        for node in nodes:
            match node:
                case ast.Assert():
                    yield node
                case ast.While():
                    pass
                case ast.For(iter=iterable) if not self._filled.has(iterable):
                    pass
                case _:
                    yield from self._surely_run(ast.iter_child_nodes(node))

    def _always(self, body: list[ast.stmt]) -> bool:
        """Whether an assertion runs whatever happens in the statements."""
        return any(map(self._always_in, body))

    def _always_in(self, statement: ast.stmt) -> bool:
        are_in = self._assertions.are_in
        match statement:
            case ast.With(items=items, body=body):
                return are_in(*items) or self._always(body)
            case ast.If(test=test, body=body, orelse=other):
                return (self._always(body) and self._always(other)) or are_in(test)
            case ast.For(iter=iterable, body=body):
                has_some = self._filled.has(iterable) or self._has_examples
                return (has_some and self._always(body)) or are_in(iterable)
            case ast.While(test=ast.Constant(value=True), body=body):
                return self._always(body)
            case ast.While() | ast.Match() | ast.FunctionDef() | ast.ClassDef():
                return False
            case ast.Try(body=body, orelse=other, finalbody=last):
                return any(map(self._always, (body, other, last)))
            case _:
                return are_in(statement)

    def _elements(self, iterable: ast.expr, but: ast.AST | None = None) -> Iterator[Finding]:
        """Find an iterable that may be empty, and about which nothing else is asserted."""
        if self._filled.has(iterable) or self._has_examples:
            return
        asserted = {text for one in self._sure for text in expressions(one.test, but=but)}
        if not any(ast.unparse(one) in asserted for one in sources(iterable)):
            yield iterable.lineno, f"{ast.unparse(iterable)!r} may be empty: use some(...)"

    def _turns(self, loop: ast.While) -> Iterator[Finding]:
        """Find a loop with assertions of which nothing outside shows that it ran."""
        inside = [node for each in loop.body for node in ast.walk(each)]
        is_wait = any(called(node) == "sleep" for node in inside)
        if is_wait or not any(isinstance(node, ast.Assert) for node in inside):
            return
        asserted = {text for one in self._sure for text in expressions(one.test)}
        if asserted.isdisjoint(map(_counted, inside)):
            yield loop.lineno, "the loop with assertions may never run: assert that it does"


def _counted(node: ast.AST) -> str | None:
    """Return the variable that a node adds to."""
    match node:
        case ast.AugAssign(target=target) | ast.Assign(targets=[ast.Subscript() as target]):
            return root(target)
        case ast.Call(func=ast.Attribute(value=value, attr="append" | "add")):
            return root(value)
        case _:
            return None


def _is_predicate(node: ast.AST) -> TypeGuard[ast.Lambda]:
    """Whether a node is a function of something; one without arguments only delays a value."""
    return isinstance(node, ast.Lambda) and bool(node.args.args)


def true_predicates(tree: ast.Module) -> Iterator[Finding]:
    """Find predicates in tables of cases that hold for everything."""
    for table in ast.walk(tree):
        if isinstance(table, ast.Tuple | ast.List):
            for one in table.elts:
                if _is_predicate(one) and isinstance(one.body, ast.Constant):
                    yield one.lineno, "a case has a predicate that is the same for everything"


def copied_expectations(function: ast.FunctionDef) -> Iterator[Finding]:
    """Find parts of an expectation that are taken from what it is compared with."""
    compared = {
        frozenset((left.id, right.id))
        for node in ast.walk(function)
        if isinstance(node, ast.Compare)
        for left, right in [(node.left, node.comparators[0])]
        if isinstance(left, ast.Name) and isinstance(right, ast.Name)
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        targets = [part for each in node.targets for part in ast.walk(each)]
        changed = {root(one) for one in targets if isinstance(one, ast.Attribute | ast.Subscript)}
        parts = ast.walk(node.value)
        taken = {root(one) for one in parts if isinstance(one, ast.Attribute | ast.Subscript)}
        if any(frozenset((one, other)) in compared for one in changed for other in taken - {one}):
            yield node.lineno, "an expectation is changed to what it is compared with"


def audit(trees: Mapping[Path, ast.Module]) -> Iterator[tuple[Path, int, str]]:
    """Yield the file, the line and the fault of each finding.

    Args:
        trees: of all files of the tests.
    """
    assertions = Assertions(asserting_helpers(trees.values()))
    for path, tree in trees.items():
        found = list(true_predicates(tree))
        for one in functions(tree):
            found += copied_expectations(one)
            if one.name.startswith("test_") and path.name.startswith("test_"):
                found += TestAudit(tree, one, assertions).findings()
        yield from ((path, line, fault) for line, fault in sorted(set(found)))


def main() -> int:
    """Print the findings; return the exit status."""
    files = [path for path in sorted(ROOT.rglob("*.py")) if ROOT / "inputs" not in path.parents]
    found = list(audit({path: ast.parse(path.read_text()) for path in files}))
    for path, line, fault in found:
        print(f"{path.relative_to(ROOT.parent)}:{line}: {fault}", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
