"""The cause of a crash, as the tool's message has it."""

from __future__ import annotations

import pytest

from actiondbg.process.stop import CrashCause, crash_cause, function_name, parse_crash


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("SIGSEGV", CrashCause("SIGSEGV", "")),
        (
            "SIGABRT: mlir-opt: /a/B.cpp:7: int f(int): Assertion `x: y' failed.",
            CrashCause("SIGABRT", "Assertion `x: y' failed", "/a/B.cpp:7", "int f(int)"),
        ),
        (
            "SIGABRT: LLVM ERROR: out of registers",
            CrashCause("SIGABRT", "LLVM ERROR: out of registers"),
        ),
        (
            "SIGABRT: no such kind\nUNREACHABLE executed at /a/B.cpp:9!",
            CrashCause("SIGABRT", "no such kind", "/a/B.cpp:9"),
        ),
    ],
)
def test_message_of_a_crash(message: str, expected: CrashCause) -> None:
    assert parse_crash(message) == expected


@pytest.mark.parametrize("message", ["", "error: no", "SIGNED: 1", "the pass cse failed"])
def test_other_messages_are_no_crash(message: str) -> None:
    assert parse_crash(message) is None


def test_crash_without_a_message() -> None:
    assert crash_cause("SIGILL", None) == CrashCause("SIGILL", "")


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        ("int main(int, char **)", "main"),
        (
            "virtual llvm::LogicalResult {anonymous}::StoreOpLowering::matchAndRewrite("
            "mlir::memref::StoreOp, Op<A, false>::B) const",
            "{anonymous}::StoreOpLowering::matchAndRewrite",
        ),
        ("bool (anonymous namespace)::A::f() const", "{anonymous}::A::f"),
        ("T *A<B, C>::get(D) [with D = int]", "A<B, C>::get"),
        ("R llvm::function_ref<R(P ...)>::operator()(P ...) const", None),
        ("nonsense", "nonsense"),
    ],
)
def test_name_of_a_function(signature: str, name: str | None) -> None:
    expected = name or "llvm::function_ref<R(P ...)>::operator()"
    assert function_name(signature) == expected
