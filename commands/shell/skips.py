"""Commands about standing skip rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actiondbg.breakpoints.resolution import resolve_spec
from actiondbg.breakpoints.spec import split_spec_and_condition
from actiondbg.commands.interpreter import completers
from actiondbg.commands.interpreter.declaration import Topic
from actiondbg.commands.interpreter.options import NoOptions, Options, positional
from actiondbg.commands.render.time_travel import SkipRulesShown
from actiondbg.commands.shell.breakpoints import parse_numbers
from actiondbg.commands.shell.controls import PlaceOptions
from actiondbg.commands.shell.time_travel import TIME_TRAVEL

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.session.skip_rules import SkipRule

SKIPS = Topic(TIME_TRAVEL.category)
_SKIPS = "Skipping actions"


@SKIPS.subcommand(
    "set", "skip", example="set skip pattern:AddIAdd*", needs_tool=_SKIPS, abbreviates=False
)
def set_skip(console: Console, options: PlaceOptions) -> SkipRule:
    """Skip every action that matches SPEC, from this stop on and in later runs."""
    spec, condition = split_spec_and_condition(options.text)
    session = console.live_session()
    unknown = resolve_spec(spec, session.names).unresolved.clause
    rule = session.skips.rules.add(spec, condition)
    if unknown is not None:
        console.note(f"Pending: {unknown}.".replace("?.", "?"))
    stop = console.session.stop
    if stop is not None and stop.when != "exit" and stop.ordinal > 1:
        console.note("It applies from here on, and to later runs from their beginning.")
    return rule


@SKIPS.subcommand(
    "show", "skip", example="show skip", needs_tool=_SKIPS, abbreviates=False, reads=True
)
def show_skip(console: Console, _: NoOptions) -> SkipRulesShown:
    """List the rules of 'set skip'."""
    return SkipRulesShown(console.live_session().skips.rules.all())


class DeleteSkipOptions(Options):
    ids: tuple[str, ...] = positional(
        "IDS", help="numbers, ranges (2-4) or all (the default)", complete=completers.skip_numbers
    )


@SKIPS.subcommand("delete", "skip", example="delete skip 1", needs_tool=_SKIPS)
def delete_skip(console: Console, options: DeleteSkipOptions) -> None:
    """Delete rules of 'set skip', from this stop on."""
    rules = console.live_session().skips.rules
    existing = [rule.id for rule in rules.all()]
    rules.remove(parse_numbers(options.ids, existing, "skip rule"))
