"""Where patterns are defined: found in a small tree of C++ and TableGen."""

from __future__ import annotations

from pathlib import Path

import pytest

from actiondbg.errors import UsageError
from actiondbg.suite.pattern_sources import find_patterns

# Each definition stands in a line that ends with its full name, after "//=".
SOURCES = {
    "Arith.cpp": """\
#include "Arith.inc"
using namespace mlir;
using namespace mlir::arith;
// struct Commented : Base {
const char *text = "struct Quoted : Base { namespace {";
const char *raw = R"x(namespace { struct Raw : Base {)x";
struct Declared;
namespace {
struct Declared : Base { //= {anonymous}::Declared
  struct Inner : Base {}; //= {anonymous}::Declared::Inner
};
template <typename Op>
class Templated final //= {anonymous}::Templated<mlir::arith::AddIOp, 4>
    : public Base<Op> {
  LogicalResult matchAndRewrite(Op op) const override { if (op) { return fail(); } }
};
struct Twice : Base { char quote = '{'; };
} // namespace
namespace mlir {
namespace arith {
struct Exported : Base {}; //= mlir::arith::Exported
namespace {
struct Hidden : Base {}; //= mlir::arith::(anonymous namespace)::Hidden
}
} // namespace arith
struct Both : Base {}; //= mlir::Both
} // namespace mlir
struct mlir::arith::Outside : Base {}; //= mlir::arith::Outside
LogicalResult AddIOp::canonicalize(AddIOp op) { //= mlir::arith::AddIOp::canonicalize
  return failure();
}
LogicalResult declaredOnly(AddIOp op, PatternRewriter &rewriter);
static LogicalResult
foldFree(AddIOp op, function_ref<void()> f, PatternRewriter &rewriter) { //= foldFree
  struct Local : Base {}; //= mlir::foldFree(AddIOp, function_ref<void()>)::Local
  return failure();
}
""",
    "Other.cpp": """\
namespace {
struct Twice : Base {};
} // namespace
namespace other {
class [[nodiscard]] Attributed;
struct Both : Base {}; //= other::Both
LogicalResult canonicalize(AddIOp op) { return failure(); }
} // namespace other
using namespace mlir::other;
LogicalResult AddIOp::canonicalize(AddIOp) { return ok; } //= mlir::other::AddIOp::canonicalize
template <typename Op> struct Special : Base {}; //= Special<mlir::Other>
template <> struct Special<arith::AddIOp> : Base {}; //= Special<mlir::arith::AddIOp>
template <typename A, typename B> struct Partial : Base {};
template <typename A> struct Partial<A, Chosen> : Base {};
""",
    "include/Rules.td": """\
def FromRule : //= {anonymous}::FromRule
    Pat<(AddOp $a, $b), (SubOp $a, $b)>;
def FromRuleOp : Op<"no pattern">;
""",
    "Generated.inc": """\
struct Generated : public RewritePattern {}; //= mlir::{anonymous}::Generated
struct GeneratedConvert0 : public RewritePattern {};
""",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "lib"
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("\nfoldFree", " foldFree"))
    return root


def planted(tree: Path) -> dict[str, tuple[str, int]]:
    """The places by full name, from the marks in the sources."""
    return {
        line.partition("//= ")[2]: (f"lib/{file.relative_to(tree)}", number)
        for file in tree.rglob("*.*")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if "//= " in line
    }


# Comments, literals, declarations; names that two places have, that nothing defines, or that each
# file has anew; a template whose specialization may be meant; another namespace.
NOWHERE = (
    "Commented",
    "{anonymous}::Quoted",
    "{anonymous}::Raw",
    "{anonymous}::Twice",
    "{anonymous}::Exported",
    "Both",
    "declaredOnly",
    "mlir::third::AddIOp::canonicalize",
    "Partial<int, Chosen>",
    "{anonymous}::FromRuleOp",
    "{anonymous}::GeneratedConvert0",
    "other::Attributed",
    "<unnamed, root func.func, benefit 1>",
)


def test_each_definition_is_found_and_nothing_else(tree: Path) -> None:
    expected = planted(tree)
    assert len(expected) == 16
    assert find_patterns([*expected, *NOWHERE], [tree]) == expected


def test_a_folder_given_twice_makes_no_name_ambiguous(tree: Path) -> None:
    found = find_patterns(["mlir::Both", "{anonymous}::FromRule"], [tree, tree / "include"])
    assert set(found) == {"mlir::Both", "{anonymous}::FromRule"}


def test_a_folder_that_is_missing_is_named(tree: Path) -> None:
    with pytest.raises(UsageError, match="none' is no folder of sources"):
        find_patterns(["Both"], [tree / "none"])
