"""The operations that symbols mean."""

from __future__ import annotations

from collections.abc import Iterator

from actiondbg.lineage.stage import Stage


class Definers:
    """Finds the operations that define the symbols of a stage: several scopes may have one name."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._inside: dict[tuple[int, str], int] = {}
        self._deeper: dict[tuple[int, str], int] = {}  # the last one anywhere in a scope
        for index, name in stage.symbols.items():
            self._inside[stage.parents[index], name] = index
            for scope in (index, *stage.around(index)):
                self._deeper[scope, name] = index

    def of(self, user: int, path: str) -> Iterator[int]:
        """Iterate over what the parts of a path mean for the operation that has it."""
        scopes = [user, *self._stage.around(user)]
        for part in path.split("::"):
            # Else deeper in a scope, as in the module of an executable.
            found = (
                known[scope, part]
                for known in (self._inside, self._deeper)
                for scope in scopes
                if (scope, part) in known
            )
            if (definer := next(found, None)) is not None:
                yield definer
                scopes = [definer, *scopes]
