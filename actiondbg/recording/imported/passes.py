"""Passes, put together from the dumps before and after them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from actiondbg.ir.aliases import without_aliases
from actiondbg.ir.tokens import STRING, unescaped
from actiondbg.ir.tree.outline import Printed, outermost, symbols_in
from actiondbg.recording.imported.last_texts import ImportedOperation, Key, LastTexts, is_same

MARK = b"// -----// "  # the beginning of a header, and of other lines between dumps
_HEADER = re.compile(r"// -----// IR Dump (Before|After) (.*?) //----- //\s*$")
# With module scope: the operation of the pass, which is not that of the text.
_SCOPE = re.compile(r" \('([^']*)' operation(?:: @(.*))?\)$")
_NEW_FORM = re.compile(r"(\S+?)( Failed)?: (.*)$", re.DOTALL)  # CLASS: ARGUMENT{OPTIONS}
_OLD_FORM = re.compile(r"(.+?)( Failed)?(?: \(([^()]*)\))?$")  # CLASS (ARGUMENT)


class DumpHeader(NamedTuple):
    """The header of a dump.

    Attributes:
        when: whether the pass had run.
        name: the argument of the pass without its options; its class if it has none.
        full_name: its class.
        scope: name and symbol of the operation on which the pass ran, if the text is the module
            around it; None otherwise.
        line: its line in the log, from 1.
    """

    when: Literal["before", "after"]
    name: str
    full_name: str
    failed: bool
    scope: tuple[str, str] | None
    line: int


class Dump(NamedTuple):
    """A dump, and the messages of errors between the dump before and this one."""

    header: DumpHeader
    text: str
    errors: tuple[str, ...] = ()


def parse_header(text: str, line: int) -> DumpHeader | None:
    """Parse a header line, which may have other text before it; None for any other line."""
    found = _HEADER.search(text)
    if found is None:
        return None
    when, rest = found.groups()
    scope = _SCOPE.search(rest)
    if scope is not None:
        rest = rest[: scope.start()]
    form = _NEW_FORM.match(rest) or _OLD_FORM.match(rest)
    full_name, failed, argument = form.groups() if form is not None else (rest, None, None)
    return DumpHeader(
        when="before" if when == "Before" else "after",
        name=(argument or "").partition("{")[0].strip() or full_name,
        full_name=full_name,
        failed=failed is not None,
        scope=None if scope is None else (scope[1], _unquoted(scope[2] or "")),
        line=line,
    )


def _unquoted(symbol: str) -> str:
    """Return a symbol of a header: some versions print it with quotes."""
    return unescaped(symbol[1:-1]) if re.fullmatch(STRING, symbol) else symbol


def split_ir(body: str) -> tuple[str, str]:
    """Split the lines under a header into the IR and what follows it, such as diagnostics.

    MLIR prints an empty line after the IR; a custom printer may print one inside it.
    """
    body = body.rstrip("\n")
    at = body.find("\n\n")
    while at >= 0:
        if is_whole(body[:at]):
            return body[:at], body[at:].strip("\n")
        at = body.find("\n\n", at + 2)
    return body, ""


def is_whole(text: str) -> bool:
    """Whether a text has the end of its outermost operation."""
    lines = [line for line in text.split("\n") if line[:1] not in ("", " ", "#", "!")]
    if not lines:
        return False
    return lines[-1][:1] in "})" or not lines[0].rstrip().endswith(("{", "(", "[", ","))


_FEW = 2  # names of passes that --mlir-print-ir-after=NAME may select
Outcome = Literal["unfinished", "succeeded", "unchanged", "failed"]
ChangeKind = Literal["inserted", "erased", "replaced", "modified"]


@dataclass(frozen=True, slots=True)
class ImportedChange:
    """A change of an operation, by its number, that two dumps show; ``by`` is 0 for none."""

    kind: ChangeKind
    operation: int
    by: int = 0


@dataclass(eq=False, slots=True)
class ImportedPass:
    """A pass of a log.

    Args:
        header: of its first dump.
        operation: the operation on which it ran.
        printed: the operation of its dumps: the same, or the module around it.
        begin: the event of its first dump.
        end: the event of its last dump; None if the log does not show its end.
        before: the IR before it, a hash; 0 if it is unknown.
        after: the IR after it, likewise.
        changed: whether it changed the IR; None if that is unknown.
        reasons: the errors before its failure.
    """

    header: DumpHeader
    operation: ImportedOperation
    printed: ImportedOperation
    begin: int
    end: int | None = None
    before: int = 0
    after: int = 0
    outcome: Outcome = "succeeded"
    changed: bool | None = None
    changes: list[ImportedChange] = field(default_factory=list[ImportedChange])
    reasons: tuple[str, ...] = ()


class PassReader:
    """Puts passes together from dumps, which are added in the order of the log.

    A pass has the dump before it, the dump after it, or both. What lacks is the last text of its
    operation, or, where the log has dumps before passes only, the next one.

    Args:
        store: stores a text, and returns its hash.

    Attributes:
        operations: the operations of the dumps.
        unread: the number of dumps without an operation.
        alternates: whether the dumps of several functions alternate, as those of threads do.
        unseen: the number of dumps before passes whose IR no pass of the log left.
    """

    def __init__(self, store: Callable[[str], int]) -> None:
        self._store = store
        self._texts = RecentTexts()
        self._passes: list[ImportedPass] = []
        self._open: dict[tuple[str, int], list[ImportedPass]] = {}
        # For the next text of what they printed.
        self._waiting: dict[ImportedOperation, list[ImportedPass]] = {}
        self._next: dict[ImportedPass, str] = {}
        self._event = 0
        self._functions: dict[int, str] = {}  # since the last module: the last pass of each
        self._last_function = 0
        self.operations = LastTexts()
        self.unread = 0
        self.alternates = False
        self.unseen = 0
        self._running = 0  # passes whose dump after them may come

    def add(self, dump: Dump) -> None:
        """Add the next dump."""
        outer = outermost(dump.text)
        if outer is None:
            self.unread += 1
            return
        self._event += 1
        scope = dump.header.scope
        printed = self.operations.of_dump(dump.text, outer, is_top=scope is not None)
        operation = printed
        if scope is not None and scope != printed.key and scope[1]:
            operation = self.operations.of_key(scope)
        self._notice_threads(dump.header.name, printed, outer)
        if dump.header.when == "before":
            self._notice_unseen(printed, dump.text)
            self.operations.keep(printed, dump.text, outer, self._event)
            self._resolve(printed, dump.text)
            self._begin(ImportedPass(dump.header, operation, printed, self._event), dump.text)
        else:
            self._end(dump, operation, printed)
            self.operations.keep(printed, dump.text, outer, self._event)
        self.operations.locate(operation, printed)

    def finish(self) -> list[ImportedPass]:
        """Return all passes, in the order of their beginnings."""
        ended = [one for one in self._passes if one.end is not None and one.outcome != "failed"]
        unended = [one for one in self._passes if one.end is None]
        # Where only changes are printed, nearly all dumps after a pass differ from that before it.
        prints_all = sum(one.outcome == "unchanged" for one in ended) > len(unended)
        names = {one.header.full_name for one in ended}
        for one in unended:
            prints_changes = len(names) > _FEW or one.header.full_name in names
            if (prints_all and prints_changes) or one.begin == self._event:
                one.outcome, one.changed, one.changes = "unfinished", None, []
            else:
                self._end_unseen(one, prints_changes)
        return self._passes

    # --- dumps before passes ---

    def _begin(self, one: ImportedPass, text: str) -> None:
        one.before = self._keep(text)
        self._passes.append(one)
        self._running += 1
        self._open.setdefault((one.header.full_name, one.operation.id), []).append(one)
        self._waiting.setdefault(one.printed, []).append(one)

    def _resolve(self, printed: ImportedOperation, text: str) -> None:
        """Compare the IR before passes whose end is unknown with that before the next one."""
        same = self._waiting.pop(printed, [])
        others: list[ImportedPass] = []
        for operation in list(self._waiting) if printed.inside else ():
            others += self._waiting.pop(operation)
        for operation in [one for one in self._waiting if one.inside]:
            del self._waiting[operation]  # the text of a part of it
        for one in (*same, *others):
            before = self._texts.get(one.before)
            now = text if one.printed is printed else None
            if before is not None and now is None and not one.printed.inside:
                now = self.operations.last_text(one.printed, before).text
            if before is not None and now is not None:
                self._next[one] = now
                self._compare(one, before, now, is_own=one.printed is printed)

    def _end_unseen(self, one: ImportedPass, prints_changes: bool) -> None:
        """Describe a pass that ended without a dump after it."""
        one.end = one.begin
        after = self._next.get(one)
        if prints_changes:
            one.outcome, one.changed, one.changes, one.after = "unchanged", False, [], one.before
        elif after is not None:
            one.after = self._store(after)

    # --- dumps after passes ---

    def _end(self, dump: Dump, operation: ImportedOperation, printed: ImportedOperation) -> None:
        one = self._opened(dump.header, operation)
        is_own = is_exact = True
        if one is None:
            one = ImportedPass(dump.header, operation, printed, self._event)
            self._event += 1
            self._passes.append(one)
            before, is_own, is_exact = self.operations.last_text(printed, dump.text)
            one.before = self._keep(before) if before is not None else 0
        else:
            before = self._texts.get(one.before)
        one.end = self._event
        one.after = self._keep(dump.text)
        one.changes, one.changed, one.outcome = [], None, "succeeded"
        if one.before == one.after:
            one.outcome, one.changed = "unchanged", False
        elif before is not None:
            self._compare(one, before, dump.text, is_own=is_own)
        if one.changed and not is_exact:
            one.changed, one.changes = None, []
        if dump.header.failed:
            one.outcome, one.reasons = "failed", dump.errors

    def _opened(self, header: DumpHeader, operation: ImportedOperation) -> ImportedPass | None:
        """Return the pass that a dump after it ends, if its beginning was printed."""
        waiting = self._open.get((header.full_name, operation.id))
        if not waiting:  # a conversion may replace the operation, or all symbols in a module
            same_pass = (self._open[key] for key in self._open if key[0] == header.full_name)
            replaced = [many for many in same_pass if many and _replaces(many[-1], operation)]
            waiting = max(replaced, key=lambda many: many[-1].begin, default=None)
        if not waiting:
            return None
        one = waiting.pop()
        self._running -= 1
        if one in self._waiting.get(one.printed, ()):
            self._waiting[one.printed].remove(one)
        self._next.pop(one, None)
        return one

    # --- comparison ---

    def _keep(self, text: str) -> int:
        hash = self._store(text)
        self._texts.put(hash, text)
        return hash

    def _compare(self, one: ImportedPass, before: str, after: str, *, is_own: bool) -> None:
        """Compare the IR before and after a pass, which may be parts of other dumps."""
        one.changed = not is_same(before, after, bare=not is_own)
        one.outcome = "succeeded" if one.changed else "unchanged"
        one.changes = self._changes(one.printed, before, after, is_own) if one.changed else []

    def _changes(
        self, printed: ImportedOperation, before: str, after: str, is_own: bool
    ) -> list[ImportedChange]:
        """Return the changes of the operations directly in a module, or of the operation."""
        old, new = (_parts(without_aliases(text, bare=not is_own)) for text in (before, after))
        changes = [
            ImportedChange("modified", self.operations.of_key(key).id)
            for key, text in new.items()
            if key in old and old[key] != text
        ]
        inserted = {key[1]: key for key in new if key not in old}
        for key in inserted.values():
            changes.append(ImportedChange("inserted", self.operations.of_key(key).id))
        for key in old:
            if key in new:
                continue
            erased = self.operations.of_key(key).id
            if key[1] in inserted:  # a function of another dialect
                heir = self.operations.of_key(inserted[key[1]]).id
                changes.append(ImportedChange("replaced", erased, heir))
            changes.append(ImportedChange("erased", erased))
        return changes or [ImportedChange("modified", printed.id)]

    def _notice_unseen(self, printed: ImportedOperation, text: str) -> None:
        """Notice IR that no pass left: of passes that were not printed, or of another module."""
        if self._running:
            return  # they may have changed it
        last = self.operations.last_text(printed, text)
        if last.text is not None and last.is_exact:
            self.unseen += not is_same(last.text, text, bare=not last.is_own)

    def _notice_threads(self, name: str, printed: ImportedOperation, outer: Printed) -> None:
        """Notice functions whose dumps alternate, although a pipeline finishes one after another.

        A pass may run itself on functions again and again, as inlining does.
        """
        if outer.is_module or not printed.symbol:
            self._functions.clear()
            return
        last = self._functions.get(printed.id)
        if last not in (None, name) and self._last_function != printed.id:
            self.alternates = True
        self._functions[printed.id] = name
        self._last_function = printed.id


class RecentTexts:
    """Texts by hash, the most recent ones: a log may have any number of passes without an end."""

    _MOST = 100_000_000  # characters

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._size = 0

    def get(self, hash: int) -> str | None:
        """Return a text; None if it has been dropped."""
        return self._texts.get(hash)

    def put(self, hash: int, text: str) -> None:
        """Add a text, and drop the oldest ones."""
        if hash in self._texts:
            self._texts[hash] = self._texts.pop(hash)
            return
        self._texts[hash] = text
        self._size += len(text)
        while self._size > self._MOST and len(self._texts) > 1:
            oldest = next(iter(self._texts))
            self._size -= len(self._texts.pop(oldest))


def _replaces(one: ImportedPass, operation: ImportedOperation) -> bool:
    """Whether an operation may be what a pass made of its operation."""
    if one.operation.symbol or operation.symbol:
        return one.operation.symbol == operation.symbol
    return one.operation.name == operation.name


def _parts(text: str) -> dict[Key, str]:
    """Return the operations directly in a module, by name and symbol."""
    outer = outermost(text)
    if outer is None or not outer.is_module:
        return {}
    return {(one.name, one.symbol): text[one.begin : one.end] for one in symbols_in(text, outer)}


class PassNesting:
    """The passes of a log as a tree, as far as dumps before and after them show it.

    Attributes:
        overlaps: whether passes overlap without one being in the other: threads ran them.
    """

    def __init__(self, passes: Sequence[ImportedPass]) -> None:
        self.overlaps = False
        self._outermost: list[ImportedPass] = []
        self._inside: dict[ImportedPass, list[ImportedPass]] = {}
        running: list[ImportedPass] = []
        for one in passes:
            running = [each for each in running if each.end is None or each.end >= one.begin]
            around = next((each for each in reversed(running) if _holds(each, one)), None)
            self.overlaps = self.overlaps or around is not (running[-1] if running else None)
            siblings = self._outermost if around is None else self._inside.setdefault(around, [])
            siblings.append(one)
            running.append(one)

    def in_order(self) -> Iterator[tuple[ImportedPass, int]]:
        """Iterate over the passes in the order of their beginnings: a pass before its nested
        passes, each with the number of passes around it.

        Passes that overlap follow one another, as in a run of one thread.
        """
        waiting = [(one, 0) for one in reversed(self._outermost)]
        while waiting:
            one, depth = waiting.pop()
            yield one, depth
            waiting += ((each, depth + 1) for each in reversed(self._inside.get(one, ())))


def _holds(outer: ImportedPass, inner: ImportedPass) -> bool:
    """Whether a pass that began earlier runs another: a pass on a function runs none on others."""
    ends_inside = outer.end is None or (inner.end is not None and inner.end <= outer.end)
    around, inside = outer.operation, inner.operation
    return ends_inside and (around is inside or around.name != inside.name or not around.symbol)
