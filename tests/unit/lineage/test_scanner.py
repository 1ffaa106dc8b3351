"""The scanner of IR: operations of any dialect, from texts written by hand and by tools."""

from __future__ import annotations

import pytest

from actiondbg.ir.tree.scanner import BrokenText, scan
from actiondbg.lineage.stage import Stage, scanned_stage


def stage(text: str, **options: str) -> Stage:
    scanned = scanned_stage(text, "in.mlir", **options)  # pyright: ignore[reportArgumentType]
    assert scanned.note == ""
    return scanned.stage


def shape(text: str) -> list[tuple[str, int]]:
    found = stage(text)
    return list(zip(found.names, found.parents, strict=True))


def test_operations_results_nesting_and_lines() -> None:
    found = stage("""
module {
  func.func @f(%arg0: i32) -> i32 {
    %0:2, %1 = "test.many"(%arg0)
      : (i32) -> (i32, i32, i32)
    %c1 = arith.constant {note} 1 : i32

    // A comment.
    return %c1 : i32
  }
}
""")
    assert list(found.names) == [
        "builtin.module",
        "func.func",
        "test.many",
        "arith.constant",
        "func.return",
    ]
    assert list(found.parents) == [-1, 0, 1, 1, 1]
    assert list(found.lines) == [2, 3, 4, 6, 9]
    assert list(found.last_lines) == [11, 10, 5, 6, 9]
    assert list(found.results) == ["", "", "%0", "%c1", ""]
    assert found.symbols == {1: "f"}
    assert found[2].text == '    %0:2, %1 = "test.many"(%arg0)\n      : (i32) -> (i32, i32, i32)'


@pytest.mark.parametrize(
    "symbol", ["@attributes", "@my.attributes", "@f-attributes", "@x::@attributes"]
)
def test_a_symbol_that_ends_like_the_word_before_a_dictionary(symbol: str) -> None:
    text = f"module {symbol} {{\n  func.func @f() {{\n    return\n  }}\n}}"
    assert shape(text) == [("builtin.module", -1), ("func.func", 0), ("func.return", 1)]


def test_regions_are_told_from_dictionaries() -> None:
    assert shape("""
%r = scf.if %c -> (tensor<?xf32>) {
  scf.yield %a {unit} : tensor<?xf32>
} else {
  %0 = flow.dispatch @e::@f[%n](%a) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
  %1 = test.op {a = {b = [1, {c}]}, "d" = 2} {
  }
  %2 = linalg.generic
    {indexing_maps = [#map]}
    ins(%0 : tensor<?xf32>)
    outs(%1 : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?xf32>
  scf.yield %2 : tensor<?xf32>
} {attribute = 1 : i32}
"test.last"() <{x = "}"}> ({
  "test.in"() : () -> ()
}, {
^bb0(%x: i32 loc("a":1:1)):
  "test.in"() : () -> ()
}) : () -> ()
module attributes {
  gpu.container_module
} {
  linalg.map { arith.addf } ins(%a, %b : f32, f32) outs(%c : f32)
}
""") == [
        ("scf.if", -1),
        ("scf.yield", 0),
        ("flow.dispatch", 0),
        ("test.op", 0),
        ("linalg.generic", 0),
        ("linalg.yield", 4),
        ("scf.yield", 0),
        ("test.last", -1),
        ("test.in", 7),
        ("test.in", 7),
        ("builtin.module", -1),
        ("linalg.map", 10),
        ("arith.addf", 11),
    ]


def test_names_without_a_dialect() -> None:
    found = shape("""
func @old(%a: i32) {
  call @f(%a) : (i32) -> ()
  %x = call @g() : () -> i32
  return
}
emitc.func @f() {
  return
}
handshake.func @h(%a: none) {
  %0:2 = fork [2] %a : none
  return %0 : none
}
""")
    assert [name for name, _ in found] == [
        "func.func",
        "func.call",
        "func.call",
        "func.return",
        "emitc.func",
        "emitc.return",
        "handshake.func",
        "handshake.fork",
        "handshake.return",
    ]


def test_words_at_the_beginning_of_a_line_continue_the_operation() -> None:
    found = shape("""
stablehlo.while(%i = %c) : tensor<i32>
cond {
  stablehlo.return %p : tensor<i1>
} do {
  stablehlo.return %i : tensor<i32>
}
%v = hal.buffer_view.create buffer(%b : !hal.buffer)[%c0, %c1]
                            shape([%c4])
                            type(%t) : !hal.buffer_view
sv.case %x : i2
case b0x: {
  sv.fwrite "a"
}
default: {
  sv.fwrite "b"
}
affine.for %i = 0 to 4 {
  affine.for %j = max #map(%i) to 4
      iter_args(%s = %z) -> f32 {
    affine.yield %s : f32
  }
}
""")
    assert [name for name, parent in found if parent < 0] == [
        "stablehlo.while",
        "hal.buffer_view.create",
        "sv.case",
        "affine.for",
    ]
    assert len(found) == 10


def test_locations_in_line_behind_regions_and_by_alias() -> None:
    found = stage("""
#loc = loc(unknown)
module {
  func.func @f(%a: i32 loc("arg":1:1)) {
    %0 = arith.addi %a, %a : i32 loc(#loc1)
    %1 = arith.addi %a, %a : i32 loc("x.py":3:4)
    %2 = "t.op"(%a) {l = loc("no":1:1)} : (i32) -> i32 loc(callsite("f"(#loc1) at "y.py":5:6))
    %3 = "t.op"(%a) : (i32) -> i32 loc(#loc2)
    return loc(#loc)
  } loc(fused<"inlined">["x.py":1:1, "y.py":2:2])
} loc(#loc)
#loc1 = loc("x.py":3:9 to :12)
#loc2 = loc(fused[#loc1, #loc3])
#loc3 = loc(callsite(#loc1 at "z.py":7:8))
""")
    assert [operation.location.text for operation in found] == [
        "unknown",
        'fused<"inlined">["x.py":1:1, "y.py":2:2]',
        '"x.py":3:9 to :12',
        '"x.py":3:4',
        'callsite("f"("x.py":3:9 to :12) at "y.py":5:6)',
        'fused["x.py":3:9 to :12, callsite("x.py":3:9 to :12 at "z.py":7:8)]',
        "unknown",
    ]


def test_aliases_that_share_others_have_no_endless_text() -> None:
    doubled = "\n".join(f"#l{n} = loc(fused[#l{n + 1}, #l{n + 1}])" for n in range(60))
    found = stage(f'"t.op"() : () -> () loc(#l0)\n{doubled}\n#l60 = loc("a":1:1)\n')
    assert len(found[0].location.text) < 100_000
    circular = stage('"t.op"() : () -> () loc(#a)\n#a = loc(fused[#b])\n#b = loc(fused[#a])\n')
    assert not circular[0].location.ranges


def test_operations_of_a_file_have_its_lines_and_byte_columns() -> None:
    text = 'module {\n  %0, %1 = "t.\u00e9"() {s = "\u00e9"} : () -> (i32, i32) loc("a":1:1)\n'
    text += '  "t.op"() {a = "\u00e9"} : () -> () // comment\n'
    text += '  %long\n    = t.op\n  /// "x"\n} "t.\u00e9"() : () -> ()\n'
    found = scanned_stage(text, "in.mlir", file="dir/in.mlir").stage
    assert [operation.location.text for operation in found] == [
        '"dir/in.mlir":1:1',
        '"a":1:1',
        '"dir/in.mlir":3:3',
        '"dir/in.mlir":5:7',
    ]


def test_symbols_that_operations_define_and_use() -> None:
    found = stage("""
module @m {
  func.func private @callee(%a: i32 {x.y = @attr})
  llvm.mlir.global internal constant @text("a@b") : !llvm.array<3 x i8>
  util.global private @"odd name" : i32
  hal.executable private @exe {
    hal.executable.export public @entry ordinal(0)
  }
  memref.global "private" constant @weights : memref<2xf32> = dense<[1.0, 2.0]>
  "func.func"() <{function_type = () -> (), sym_name = "generic"}> ({
    "func.call"() <{callee = @callee}> : () -> ()
    flow.dispatch @exe::@entry(%0, %1) : (i32, i32) -> i32
    %2 = func.constant @callee : (i32) -> ()
    call @callee(%2) : (i32) -> ()
  }) : () -> ()
}
""")
    assert sorted(found.symbols.values()) == sorted(
        ["m", "callee", "text", "odd name", "exe", "entry", "weights", "generic"]
    )
    uses = {found.names[index]: used for index, used in found.symbol_uses.items()}
    assert uses == {
        "func.func": ("attr",),
        "func.call": ("callee",),
        "flow.dispatch": ("exe::entry",),
        "func.constant": ("callee",),
    }
    assert sum("callee" in used for used in found.symbol_uses.values()) == 3


def test_megabytes_in_one_line_and_resources() -> None:
    digits = "0123456789ABCDEF" * 200_000
    found = stage(f"""
%0 = arith.constant dense<"0x{digits}"> : tensor<4xf32>
%1 = arith.constant dense<[{", ".join(["[1, 2]"] * 50_000)}]> : tensor<50000x2xi32>
%2 = arith.constant dense_resource<blob> : tensor<4xf32>
{{-#
  dialect_resources: {{
    builtin: {{ blob: "0x{digits}" }}
  }}
#-}}
""")
    assert list(found.results) == ["%0", "%1", "%2"]


def test_aliases_of_attributes_over_many_lines() -> None:
    found = stage("""
#layout = #gpu.layout<
  order = [0, 1],
  shape = {a = 1}
>
!type = !test.type<
  i32>
#set = affine_set<(d0) : (d0 - 1 >= 0)>
"test.op"() : () -> ()
""")
    assert list(found.names) == ["test.op"]


def test_several_modules_and_lines_that_are_no_ir() -> None:
    scanned = scan(
        "warning: something\nmodule {\n}\n// -----\nmodule {\n^a:\n  $$$\n  t.op\n}\nGoodbye.\n",
        "log",
    )
    assert list(scanned.tree.names) == ["builtin.module", "builtin.module", "t.op"]
    assert [each.line for each in scanned.unread] == [1, 7, 10]
    assert scanned.note == (
        "3 places of log could not be read, the first on line 1: "
        "no operation begins with 'warning: something'."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {\n  t.a {\n  }\n", "cut does not parse: on line 1, the '{' is not closed"),
        (
            "module {\n  t.a(%b\n}\n",
            "cut does not parse: on line 3, '}' does not close the '(' of line 2",
        ),
        ('module {\n  t.a "b\n}\n', "cut does not parse: on line 2, a string is not closed"),
        ("module {\n}\n}\n", "cut does not parse: on line 3, '}' closes nothing"),
        ("module {\n t.a loc(fused[\n}\n", "cut does not parse: on line 2, the '(' is not closed"),
        ("{-#\n", "cut does not parse: on line 1, the '{-#' is not closed"),
    ],
)
def test_brackets_that_do_not_match(text: str, message: str) -> None:
    with pytest.raises(BrokenText) as raised:
        scanned_stage(text, "cut")
    assert str(raised.value) == f"{message}; --partial uses what can be read."
    partial = scan(text, "cut", partial=True)
    assert partial.unread
    assert list(partial.tree.names)[:1] in ([], ["builtin.module"])


def test_any_prefix_of_a_text_is_read_in_part() -> None:
    text = """#l = loc("a":1:1)
module @m attributes {a = "}"} {
  func.func @f(%a: i32) -> (i32 {x}) {
    %0:2 = "t.op"(%a) <{p = [1]}> ({
    ^bb0(%b: i32):
      t.yield %b : i32
    }) : (i32) -> (i32, i32) loc(callsite("b":1:1 at #l))
    return %0#1 : i32
  }
}
{-# dialect_resources: {} #-}
"""
    cut = (text[:end] for end in range(len(text) + 1))
    counts = [len(scanned_stage(each, "cut", partial=True).stage) for each in cut]
    assert counts[-1] == 5
    assert max(counts) == 5


def test_wrapped_attributes_and_types_continue_the_operation() -> None:
    found = stage("""
func.func @f(%a: i32) {
  %0 = linalg.generic {maps = [#map]} ins(%a : i32) outs(%a : i32)
  attrs = {ukernel = #x<"y">,
  config = #x<{workgroup = [1]}>} {
  ^bb0(%in: i32):
    linalg.yield %in : i32
  }
  %1 = "t.op"(%a) : (i32) -> tensor<16xf32, #x.encoding<index = 0,
  element_types = [f32],
  sizes = [14, 14]>> loc("a":1:1)
  return
}
""")
    assert list(found.names) == [
        "func.func",
        "linalg.generic",
        "linalg.yield",
        "t.op",
        "func.return",
    ]
    assert found[3].location.text == '"a":1:1'


def test_further_regions_on_lines_of_their_own() -> None:
    found = shape("""
func.func @f() {
  verif.bmc bound 10
  init {
    verif.yield
  }
  loop {
    verif.yield
  }
  return {unit}
}
""")
    assert [name for name, parent in found if parent == 0] == ["verif.bmc", "func.return"]
    assert len(found) == 5


def test_a_cut_name_behind_a_value_ends_the_scan() -> None:
    scanned = scanned_stage("t.op {a} %x = t.other. %y\n", "cut", partial=True)
    assert list(scanned.stage.names) == ["t.op"]
