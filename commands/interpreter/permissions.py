"""What commands may do beside debugging, where a front end restricts it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple, get_args

from actiondbg.errors import UsageError

Permission = Literal["shell", "py", "native", "redirection"]


class Permissions(NamedTuple):
    """The permissions of a front end.

    Args:
        way_out: how to allow more, a clause in which ``{}`` is the permission.
    """

    allowed: Collection[str]
    way_out: str

    def refusal(self, permission: Permission | None, what: str) -> str | None:
        """Return why a subject that needs a permission, or none, is refused; None if it is not."""
        if permission is None or permission in self.allowed:
            return None
        return f"{what} is switched off here: {self.way_out.format(permission)}."

    def check(self, permission: Permission | None, what: str) -> None:
        """Raise UsageError if something is refused; see ``refusal``."""
        refused = self.refusal(permission, what)
        if refused is not None:
            raise UsageError(refused)


ALL = Permissions(get_args(Permission), "")
