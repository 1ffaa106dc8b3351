"""The pytest plugin: fixtures that assert which patterns apply in a test."""

# Imported by each run of pytest in an environment that has actiondbg: it imports nothing else of it
# before a test uses a fixture.

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from actiondbg.attachment.attachment import Attachment
    from actiondbg.errors import ActiondbgError

Words = Sequence[str | os.PathLike[str]]


class AppliedAssertion:
    """Asserts that a pattern, pass or fold applied in this test, or did not.

    Args:
        attachment: the actions of this process; or why they cannot be observed.
        applied: whether it has to apply, or must not.
    """

    def __init__(self, attachment: Attachment | ActiondbgError, applied: bool) -> None:
        self._attachment = attachment
        self._applied = applied

    def __call__(self, name: str, *, at: str | None = None, run: Words | None = None) -> None:
        """Assert it.

        Args:
            name: of a pattern or a pass, a glob; or a SPEC as ``break`` takes it.
            at: FILE:LINE of the operation; None for any.
            run: a command to run and look at; None for what this process did in the test so far.

        Raises:
            AssertionError: it is otherwise; with the attempts, and why they failed.
            UsageError: the name or the place has a syntax error.
        """
        __tracebackhide__ = True
        from actiondbg.attachment.assertions import (
            check_applied,
            check_not_applied,
            check_texts,
            run_and_check,
        )
        from actiondbg.errors import ActiondbgError

        if run is None and isinstance(self._attachment, Exception):
            raise self._attachment
        try:
            check_texts(name, at)
            if run is not None:
                run_and_check(run, name, at, applied=self._applied)
            elif not isinstance(self._attachment, Exception):
                (check_applied if self._applied else check_not_applied)(self._attachment, name, at)
        except ActiondbgError as error:
            # The test's own line is what matters, not how a SPEC is parsed.
            raise error.with_traceback(None) from None


@pytest.fixture
def actiondbg_actions() -> Generator[Attachment]:
    """The actions of the MLIR that this process uses in the test."""
    from actiondbg.attachment.attachment import attach

    with attach() as actions:
        yield actions


@pytest.fixture
def _actiondbg_attached(
    request: pytest.FixtureRequest,
) -> Attachment | ActiondbgError:
    from actiondbg.errors import ActiondbgError

    try:
        return request.getfixturevalue("actiondbg_actions")
    except ActiondbgError as error:
        return error  # a command can be observed all the same


@pytest.fixture
def assert_applied(_actiondbg_attached: Attachment | ActiondbgError) -> AppliedAssertion:
    """Assert that a pattern, pass or fold applied: ``assert_applied("FuseX")``."""
    return AppliedAssertion(_actiondbg_attached, applied=True)


@pytest.fixture
def assert_not_applied(_actiondbg_attached: Attachment | ActiondbgError) -> AppliedAssertion:
    """Assert that a pattern, pass or fold did not apply: ``assert_not_applied("FuseX")``."""
    return AppliedAssertion(_actiondbg_attached, applied=False)
