"""What answers requests at a stop, and shows values under the session's names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar, cast

import msgspec

from actiondbg import protocol
from actiondbg.errors import AgentError, NoSuchUnit, UnitErased
from actiondbg.ir.value_names import NamedKeys, Names, ValueNames, read_names
from actiondbg.process.branches import Branch
from actiondbg.process.stop import Stop
from actiondbg.session.executions import Executions
from actiondbg.support.decoders import decoder_of

R = TypeVar("R", bound=protocol.Message)
_Key = tuple[str, bytes]

Question = (  # which changes nothing
    protocol.GetFrames
    | protocol.GetAction
    | protocol.GetChanges
    | protocol.GetContext
    | protocol.GetCursor
    | protocol.GetExcerpt
    | protocol.GetLinks
)


class AgentAccess(Protocol):
    """Answers the requests of the breakpoint-controller protocol at a stop."""

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request, and return the reply.

        Raises:
            NotStopped: there is no stop.
            AgentError: the request was refused.
        """
        ...


class QuestionGroup:
    """Asks the agent a group of questions at once, at the first question of the group at a stop.

    The answers are kept until a request that may change them. It is an ``AgentAccess``.
    """

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._group: dict[_Key, Question] = {}
        self._answers: dict[_Key, protocol.Message | protocol.WireError] = {}
        self._stop: Stop | None = None

    def set(self, questions: Sequence[Question]) -> None:
        """Replace the questions of the group."""
        self._group = {_key(each.method, each): each for each in questions}

    def forget(self) -> None:
        """Drop the answers: the stop is over, or the IR has changed."""
        self._answers = {}

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request; see ``AgentAccess``."""
        if not self._group:
            return self._executions.ask(message)
        asked: object = message
        if not isinstance(asked, Question) or self._stop is not self._executions.stop:
            self.forget()
        key = _key(message.method, message)
        if key in self._group and not self._answers:
            self._ask_all()
        answer = self._answers.get(key)
        if isinstance(answer, protocol.WireError):
            self._answers.pop(key)  # asked alone, it fails with its own words
        elif answer is not None:
            return cast("R", answer)
        return self._executions.ask(message)

    def _ask_all(self) -> None:
        asked = [protocol.Asked(method=each.method, params=each) for each in self._group.values()]
        self._stop = self._executions.stop
        try:
            answered = self._executions.ask(protocol.AskTogether(requests=asked)).answers
        except AgentError:
            return  # a question may have crashed the fork: each is asked alone
        for (key, question), each in zip(self._group.items(), answered, strict=True):
            self._answers[key] = each.error or decoder_of(question.result).decode(each.result)


def _key(method: str, message: object) -> _Key:
    return method, msgspec.json.encode(message)


class NamedAccess:
    """An AgentAccess that names values: the agent sends keys, since its printer numbers anew.

    The values of a function get the printer's names when one of them is shown first; later values
    get names that no other value of the function has or had.
    """

    def __init__(self, agent: AgentAccess, names: ValueNames, new_file: Callable[[], Path]) -> None:
        self._agent = agent
        self.names = names
        self._new_file = new_file

    def ask(self, message: protocol.Request[R]) -> R:
        """Send a request; see ``AgentAccess``."""
        asked: object = message
        if isinstance(asked, protocol.MoveCursor) and asked.to == "value":
            return cast("R", self._name_cursor(self._find(asked)))
        return cast("R", self._named(self._agent.ask(message)))

    def _named(self, reply: object) -> object:
        match reply:
            case protocol.Cursor():
                return self._name_cursor(reply)
            case protocol.Units():
                return msgspec.structs.replace(reply, units=self._units(reply.units))
            case protocol.Frames():
                frames = [self._name_frame(frame) for frame in reply.frames]
                return msgspec.structs.replace(reply, frames=frames)
            case protocol.Frame():
                return self._name_frame(reply)
            case protocol.Excerpt():
                return self._name_excerpt(reply)
            case _:
                return reply

    def learn(self, scope: int) -> None:
        """Name the values of a scope, unless it was done before."""
        if self.names.knows(scope):
            return
        if not scope:  # a value outside of all operations with an id
            self.names.learn(scope, NamedKeys([], []))
            return
        file = self._new_file()
        try:
            answer = self._agent.ask(protocol.WriteValueNames(id=scope, path=str(file)))
            text = file.read_text(encoding="utf-8", errors="replace") if answer.written else ""
        except NoSuchUnit:
            text = ""  # an operation whose creation was not seen
        finally:
            file.unlink(missing_ok=True)
        self.names.learn(scope, read_names(text))

    def _find(self, message: protocol.MoveCursor) -> protocol.Cursor:
        """Find a value by its name: near the cursor, then elsewhere, then by the printer's name.

        A name of the input stays that of its value, also when the value is dead.
        """
        name = f"%{(message.name or '').removeprefix('%')}"
        of_input = self._agent.ask(protocol.FindNamed(name=name))
        here = of_input.scope or 0
        for scope in {here, *(each.scope or 0 for each in of_input.values)}:
            self.learn(scope)
        near = self.names.keys(name, here)
        elsewhere = [key for key in dict.fromkeys(self.names.keys(name)) if key not in set(near)]
        # A value keeps its name of the input unless it moved to where another one has it.
        for keys in filter(None, (near, elsewhere, [each.key for each in of_input.values])):
            with contextlib.suppress(UnitErased):
                return self._agent.ask(protocol.MoveCursor(to="keys", name=" ".join(keys)))
        if of_input.values:
            raise NoSuchUnit(erased_names(name, [each.id for each in of_input.values]))
        if near or elsewhere:
            raise NoSuchUnit(f"{name} is a value of other stops: there is none here.")
        return self._find_unnamed(message, name)

    def _find_unnamed(self, message: protocol.MoveCursor, name: str) -> protocol.Cursor:
        """Find a value by the printer's name, in a scope whose values have no names yet."""
        before = self._agent.ask(protocol.GetCursor())
        found = self._agent.ask(message)
        scope = self._agent.ask(protocol.FindNamed(name=name)).scope or 0
        self.learn(scope)
        # The values of a scope that is too large to be listed have the printer's names.
        if not self.names.has_names(scope) or self.names.keys(name, scope):
            return found
        if before.unit.id is not None:
            self._agent.ask(protocol.MoveCursor(to="id", index=before.unit.id))
        raise NoSuchUnit(f"There is no value {name} at this stop.")

    def _name_cursor(self, cursor: protocol.Cursor) -> protocol.Cursor:
        return msgspec.structs.replace(cursor, unit=self._unit(cursor.unit))

    def _name_frame(self, frame: protocol.Frame) -> protocol.Frame:
        return msgspec.structs.replace(frame, units=self._units(frame.units))

    def _name_excerpt(self, excerpt: protocol.Excerpt) -> protocol.Excerpt:
        lines, definitions = (
            [msgspec.structs.replace(line, text=self.text(line.text)) for line in each]
            for each in (excerpt.lines, excerpt.definitions)
        )
        return msgspec.structs.replace(excerpt, lines=lines, definitions=definitions)

    def _units(self, units: list[protocol.Unit]) -> list[protocol.Unit]:
        return [self._unit(unit) for unit in units]

    def _unit(self, unit: protocol.Unit) -> protocol.Unit:
        if unit.text is None:
            return unit
        return msgspec.structs.replace(unit, text=self.text(unit.text))

    def text(self, text: str) -> str:
        """Return a text of the agent with names in the place of keys."""
        if protocol.KEY_MARK not in text:
            return text
        for scope in self.names.scopes(text):
            self.learn(scope)
        return self.names.fill(text)


def erased_names(name: str, values: Sequence[int | None]) -> str:
    """Return a sentence on a name of the input whose values, given by their ids, are erased."""
    ids = list(dict.fromkeys(each for each in values if each is not None))
    if len(ids) != 1:
        return f"The {len(values)} values that the input names {name} are erased."
    return f"{name} is @{ids[0]} of the input, which is erased: 'history @{ids[0]}' lists why."


class BranchNames:
    """Gives each branch names of its own.

    The operations that a branch creates have the same ids as others on its parent. Values of both
    branches keep their names; so do the values of a branch to which the tool returns.
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
