"""What the names of a SPEC mean, and what is said of those that are not known."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from actiondbg.breakpoints.resolution import ActionNames, Kind, Vocabulary, misspelt, resolve_spec
from actiondbg.errors import UsageError
from actiondbg.protocol import ActionRef


@dataclass
class Names:
    """Known names that a test chooses."""

    names: dict[Kind, list[str]] = field(default_factory=dict[Kind, list[str]])
    files: list[str] = field(default_factory=list[str])
    words: list[str] = field(default_factory=list[str])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    absent: tuple[str, ...] = ()
    is_current: bool = False
    is_complete: bool = False

    def get(self, kind: Kind) -> list[str]:
        return self.names.get(kind, [])

    def may_have(self, kind: Kind, name: str) -> bool:
        return any(name in known for known in self.get(kind))

    def options(self) -> list[str]:
        return self.words

    def inputs(self) -> list[str]:
        return self.files

    def line_count(self, file: str) -> int | None:
        return self.lines.get(file)

    def may_locate(self, path: str) -> bool:
        return path not in self.absent


KNOWN: dict[Kind, list[str]] = {
    "pattern": [
        "AddIAddConstant",
        "mlir::cf::BranchOp::canonicalize",
        "mlir::cf::FoldBr<A, B>",
        "shared",
    ],
    "pass": ["canonicalize", "convert-scf-to-cf", "shared"],
    "op": ["arith.addi", "arith.muli", "func.func", "shared"],
    "func": ["main", "canonicalizer", "fold", "shared"],
    "tag": ["apply-pattern", "fold", "pass-execution"],
}


def looked_up(text: str, names: Vocabulary) -> tuple[str, str | None]:
    """Return the SPEC in which known names have their kind, and a clause about the others."""
    resolved = resolve_spec(text, names)
    return resolved.spec, resolved.unresolved.clause


def resolved(text: str, files: tuple[str, ...] = ("dir/in.mlir",)) -> tuple[str, str | None]:
    return looked_up(text, Names(KNOWN, list(files), ["cse", "mlir-timing"]))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("AddIAddConstant", "pattern:AddIAddConstant"),
        ("FoldBr<A, B>", "pattern:FoldBr<A, B>"),
        ("mlir::cf::FoldBr<*", "pattern:mlir::cf::FoldBr<*"),
        ("canonicalize", "pass:canonicalize"),
        ("mlir::cf::BranchOp::canonicalize", "pattern:mlir::cf::BranchOp::canonicalize"),
        ("BranchOp::canonicalize", "pattern:BranchOp::canonicalize"),
        ("*BranchOp::*", "pattern:*BranchOp::*"),
        ("cse", "pass:cse"),
        ("arith.addi", "op:arith.addi"),
        ("arith.*", "op:arith.*"),
        ("main", "func:main"),
        ("apply-pattern", "tag:apply-pattern"),
        ("shared", "pattern:shared"),
        ("fold", "func:fold"),
        ('"main"', 'func:"main"'),
        ("canon*", "pass:canon*"),
        ("*", "tag:*"),
        ("8", "dir/in.mlir:8"),
        ("8-10", "dir/in.mlir:8-10"),
        ("8:3", "dir/in.mlir:8:3"),
        ("in.mlir", "in.mlir"),
        ("main and 8 and arith.addi", "func:main and dir/in.mlir:8 and op:arith.addi"),
        ("  main   and  in:cse#2", "func:main   and  in:cse#2"),
        ("#8", "#8"),
        ("@main", "@main"),
        ("pattern:AddI* and func:m?in", "pattern:AddI* and func:m?in"),
        ("fold:arith.addi and tag:fold", "fold:arith.addi and tag:fold"),
        ("pass:Canonicalizer", "pass:Canonicalizer"),
        ("other.mlir:3", "other.mlir:3"),
        ("pattern:NotSeenBefore", "pattern:NotSeenBefore"),
    ],
)
def test_known_names_get_their_kind(text: str, spec: str) -> None:
    assert resolved(text) == (spec, None)


@pytest.mark.parametrize(
    ("file", "spec"),
    [
        ("a b.mlir", 'file:"a b.mlir":8'),
        ("x:3", 'file:"x:3":8'),
        ("8", 'file:"8":8'),
        ("<stdin>", 'file:"<stdin>":8'),
        ("/t/in-1.mlirbc", "/t/in-1.mlirbc:8"),
    ],
)
def test_a_line_belongs_to_the_only_input(file: str, spec: str) -> None:
    assert resolved("8", (file,)) == (spec, None)
    assert looked_up(spec, Names(files=[file])) == (spec, None)


@pytest.mark.parametrize(
    ("files", "why"),
    [((), "but none is known. Write FILE:8"), (("a", "b"), r"there are 2: a, b\. Write FILE:8")],
)
def test_a_line_of_no_file_is_refused(files: tuple[str, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        resolved("main and 8", files)
    assert (raised.value.text, raised.value.offset) == ("main and 8", 9)


def test_an_input_with_any_name_is_a_file() -> None:
    assert resolved("input", ("in/input",)) == ("file:input", None)
    assert resolved("nput", ("in/input",))[1] is not None


def test_nothing_is_found_in_a_file_whose_name_is_not_utf_8() -> None:
    _, pending = resolved("caf\udce9.mlir:4", ("caf\udce9.mlir",))
    assert pending is not None and pending.startswith("its name is not UTF-8")


@pytest.mark.parametrize(
    ("text", "pending"),
    [
        ("mian", "nothing named 'mian' is known yet; did you mean func:main?"),
        ("Main", "nothing named 'Main' is known yet; did you mean func:main?"),
        (
            "cononicalize",
            "nothing named 'cononicalize' is known yet; did you mean pass:canonicalize?",
        ),
        (
            "pattern:Fold",
            "no pattern 'Fold' is known yet; did you mean pattern:mlir::cf::FoldBr<A, B>?",
        ),
        ("addi", "nothing named 'addi' is known yet; did you mean op:arith.addi?"),
        ("AddIAdd", "nothing named 'AddIAdd' is known yet; did you mean pattern:AddIAddConstant?"),
        ("zzz and main", "nothing named 'zzz' is known yet"),
        (
            "FodlBr*",
            "nothing named 'FodlBr*' is known yet; did you mean pattern:mlir::cf::FoldBr<A, B>?",
        ),
        (
            "pass:canonicalise",
            "no pass 'canonicalise' is known yet; did you mean pass:canonicalize?",
        ),
        ("in:canonicalise#2", "no pass 'canonicalise' is known yet; did you mean in:canonicalize?"),
        ("fold:arith.adi", "no operation 'arith.adi' is known yet; did you mean fold:arith.addi?"),
        ("@mian", "no function 'mian' is known yet; did you mean func:main?"),
        ("im.mlir:3", "the input is not 'im.mlir'; did you mean in.mlir?"),
        (
            "op:arith.adi and mian",
            "no operation 'arith.adi' is known yet; did you mean op:arith.addi?; "
            "nothing named 'mian' is known yet; did you mean func:main?",
        ),
    ],
)
def test_other_names_are_pending(text: str, pending: str) -> None:
    assert resolved(text)[1] == pending


def test_a_kind_is_taken_at_its_word_until_the_tool_can_be_asked() -> None:
    for text in ("pattern:Other", "func:other", "op:x.y", "pass:other"):
        assert looked_up(text, Names(KNOWN))[1] is None
        asked = looked_up(text, Names(KNOWN, is_current=True))[1]
        assert asked is not None and asked.endswith(f"{text.partition(':')[2]!r} is known yet")
        recorded = looked_up(text, Names(KNOWN, is_current=True, is_complete=True))[1]
        assert recorded is not None and recorded.endswith("is in the recording")


def test_a_tag_is_unknown_before_the_run_already() -> None:
    assert looked_up("tag:foo", Names(KNOWN))[1] == "no tag 'foo' is known yet"
    assert looked_up("tag:f*", Names(KNOWN))[1] is None


def test_a_place_that_the_input_has_not() -> None:
    names = Names(KNOWN, ["dir/in.mlir"], lines={"dir/in.mlir": 9}, absent=("other.td",))
    assert looked_up("in.mlir:9", names)[1] is None
    assert looked_up("in.mlir:10", names)[1] == "dir/in.mlir has 9 lines"
    assert looked_up("other.td:1", names)[1] == "no file 'other.td' is known"
    assert looked_up("header.mlir:1", names)[1] is None


def test_a_name_that_was_misspelt() -> None:
    names = Names(KNOWN)
    assert misspelt("pattern", "AddIAddConstnt", names) == "AddIAddConstant"
    for name in ("AddIAddConstant", "FoldBr*", "AddIAdd*", "Unlike"):
        assert misspelt("pattern", name, names) is None


def test_terms_that_exclude_each_other_are_refused_by_their_meaning() -> None:
    with pytest.raises(UsageError, match="for what runs inside the pass, write in:canonicalize"):
        resolved("arith.addi and canonicalize")


def test_the_action_that_is_hit_says_what_a_name_means() -> None:
    action = ActionRef(ordinal=3, tag="apply-pattern", name="X", op="arith.addi", function="f")
    names = ActionNames(action)
    for text, kind in (("X", "pattern"), ("arith.*", "op"), ("f", "func"), ("apply-*", "tag")):
        assert looked_up(text, names) == (f"{kind}:{text}", None)
    of_a_pass = ActionNames(ActionRef(ordinal=1, tag="pass-execution", name="cse"))
    assert looked_up("cse", of_a_pass) == ("pass:cse", None)
