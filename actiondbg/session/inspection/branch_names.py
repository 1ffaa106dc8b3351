"""The names of values on each branch of a run."""

from __future__ import annotations

from actiondbg.ir.value_names import Names, ValueNames
from actiondbg.process.stop import Stop
from actiondbg.process.timeline import Branch
from actiondbg.session.executions import Executions


class BranchNames:
    """Gives each branch names of its own.

    The operations that a branch creates have the same ids as others on its parent. The names of
    those that both share are kept, and those of a branch that is returned to.

    Args:
        executions: the processes of the tool.
        names: of the current branch.
    """

    def __init__(self, executions: Executions, names: ValueNames) -> None:
        self._executions = executions
        self._names = names
        self._branch = 1
        self._left: dict[int, Names] = {}  # by the number of the branch

    def clear(self) -> None:
        """Forget all names: another process begins."""
        self._names.clear()
        self._branch = 1
        self._left.clear()

    def update(self, stop: Stop) -> Stop:
        """Follow the tool to the branch of a stop."""
        self.follow()
        return stop

    def follow(self) -> None:
        """Follow the tool to its branch."""
        branch = self._executions.need().branches.current
        if branch.number == self._branch:
            return
        self._left[self._branch] = self._names.current
        self._branch = branch.number
        self._names.current = self._left.pop(branch.number, None) or self._at_beginning_of(branch)

    def _at_beginning_of(self, branch: Branch) -> Names:
        parent = self._left.get(branch.parent or 0)
        if parent is None or branch.created is None:
            return Names()
        return parent.of_first(branch.created.operations, branch.created.blocks)
