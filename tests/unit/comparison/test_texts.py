"""The IR of functions in printed IR."""

from __future__ import annotations

from actiondbg.comparison.changing_actions import function_texts


def test_the_operations_of_a_module() -> None:
    text = """\
#map = affine_map<(d0) -> (d0)>
module @whole attributes {a = 1 : i32} {
  func.func @f() {
    "test.op"() {map = #map} : () -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @g() kernel {
      gpu.return
    }
  }
  func.func private @declared()
  "test.first"() : () -> ()
  "test.second"() : () -> ()
}
"""
    found = function_texts(text)
    assert list(found) == ["whole", "f", "kernels", "g", "declared", ""]
    assert "{map = affine_map<(d0) -> (d0)>}" in found["f"][""]
    assert found["g"]["@kernels"].split() == ["gpu.func", "@g()", "kernel", "{", "gpu.return", "}"]
    assert [line.strip() for line in found[""][""].splitlines()] == [
        '"test.first"() : () -> ()',
        '"test.second"() : () -> ()',
    ]


def test_functions_of_one_name_in_several_modules() -> None:
    function = "func.func @f() {\n  return\n}\n"
    text = f"module {{\nmodule @a {{\nmodule {{\n{function}}}\n{function}}}\n{function}}}\n"
    assert list(function_texts(text)["f"]) == ["@a::module 1", "@a", ""]


def test_a_function_has_its_place_wherever_others_are() -> None:
    function = "func.func @f() {\n  return\n}\n"
    inner = f"test.executable @x {{\nmodule {{\n{function}}}\n}}\n"
    other = "module @b {\n}\nmodule @c {\nmodule {\n}\n}\n"
    for order in (f"{inner}{other}", f"{other}{inner}"):
        assert list(function_texts(f"module {{\n{order}}}\n")["f"]) == ["@x::module 1"]


def test_the_operations_of_a_generic_module() -> None:
    text = """\
"builtin.module"() ({
  "func.func"() <{function_type = () -> (), sym_name = "f"}> ({
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""
    found = function_texts(text)
    assert list(found) == ["f"]
    assert found["f"][""].count("\n") == 3


def test_a_root_that_is_no_module() -> None:
    text = "func.func @f() {\n  return\n}\n"
    assert function_texts(text) == {"f": {"": text}}
    assert function_texts("\n") == {}
