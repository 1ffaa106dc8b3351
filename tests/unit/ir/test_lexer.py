"""The lexer loses nothing and knows every character of real MLIR."""

from __future__ import annotations

import re

import pytest
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
)

from actiondbg.ir.lexer import MlirLexer, colorize, style_names

SAMPLE = r"""
#map = affine_map<(d0, d1) -> (d0 - 1, d1 floordiv 2)>
#loc1 = loc("a \"b\".mlir":1:2)
{-# dialect_resources: { builtin: { blob: "0x0800000001" } } #-}
module @"odd name" attributes {test.flag = true, n = -1 : i64} {
  func.func private @main(%arg0: tensor<4x?x0xf32, #map>, %0: !fir.ref<i8>) -> index {
    // a comment with "quotes" and %names
    %2:2 = "test.op"(%arg0) ({
    ^bb0(%x: memref<*xf32, strided<[1], offset: ?>>):
      %c-1_i32 = arith.constant dense<0xFF800000> : vector<[4]xf32>
      llvm.return %2#1, %x : i1, bf16 loc(#loc1)
    }) {value = dense<[1.0e-05, -2.5, 0x1F]> : tensor<3xf64>} : (tensor<4xf32>) -> (i1, !llvm.ptr)
    cf.br ^bb1(%2#0 : i1) loc(fused<"cse">["x.mlir":3:4, unknown])
    call @a::@"b c"(%2#1) {spirv.v = v1.0, p = #0, q = #llvm.cc<fast>} : (ui8) -> none
  }
}
"""


def tokens(text: str) -> list[tuple[object, str]]:
    lexer = MlirLexer(stripnl=False, ensurenl=False)
    return [(kind, value) for kind, value in lexer.get_tokens(text) if value.strip()]


def test_lossless_without_errors() -> None:
    lexer = MlirLexer(stripnl=False, ensurenl=False)
    found = list(lexer.get_tokens(SAMPLE))
    assert "".join(value for _, value in found) == SAMPLE
    assert [value for kind, value in found if kind is Error] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("%2#1", Name.Variable),
        ("%c-1_i32", Name.Variable),
        ("^bb0", Name.Label),
        ("@main", Name.Function),
        ('@"odd \\" name"', Name.Function),
        ("#0", Name.Constant),
        ("#map", Name.Constant),
        ("!fir.ref", Keyword.Type),
        ("f8E4M3FN", Keyword.Type),
        ("si32", Keyword.Type),
        ("arith.addi", Keyword),
        ("-1", Number.Integer),
        ("-1.5e-05", Number.Float),
        ("0xFF800000", Number.Hex),
        ('"a \\" b"', String.Double),
        ("// %0 = x", Comment.Single),
        ("->", Operator),
        ("{", Punctuation),
    ],
)
def test_token(text: str, kind: object) -> None:
    assert tokens(text) == [(kind, text)]


def test_operation_in_generic_form_is_no_string() -> None:
    assert tokens('"test.op"(')[0] == (Keyword, '"test.op"')
    assert tokens('"test.op")')[0] == (String.Double, '"test.op"')


def test_shape_is_not_a_hexadecimal_number() -> None:
    assert tokens("tensor<0xf32>")[2:4] == [(Number.Integer, "0x"), (Keyword.Type, "f32")]


def test_foreign_character_is_an_error_token() -> None:
    assert (Error, "\u20ac") in tokens("arith.addi \u20ac")


@pytest.mark.parametrize("style", ["terminal", "monokai"])
def test_colorize_only_adds_escapes(style: str) -> None:
    painted = colorize(SAMPLE, style)
    assert painted != SAMPLE
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == SAMPLE


def test_style_names_have_ours_and_those_of_pygments() -> None:
    assert {"terminal", "monokai"} <= set(style_names())


def test_pathological_text_is_lexed_in_linear_time() -> None:
    # A pattern that backtracks would take hours here.
    for text in ('"' + "\\" * 200_000, "a." * 100_000, "1" * 200_000 + "a", "%" * 100_000):
        assert "".join(value for *_, value in MlirLexer().get_tokens_unprocessed(text)) == text
