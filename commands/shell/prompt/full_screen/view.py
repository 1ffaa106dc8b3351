"""The full-screen view: a reader of command lines that shows panes above the prompt.

It draws only while it waits for a line. Commands run on the terminal behind the panes, as at the
prompt of the shell: the tool writes there, Ctrl-C interrupts it, and nothing that a command does or
raises leaves the terminal in another mode.
"""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    CompletionsMenu,
    ConditionalContainer,
    Dimension,
    Float,
    FloatContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.shortcuts import PromptSession
from prompt_toolkit.widgets import SearchToolbar

from actiondbg.commands.shell.prompt.full_screen import panes
from actiondbg.commands.shell.prompt.full_screen.transcript import Transcript, TranscriptStream
from actiondbg.support.counts import counted

if TYPE_CHECKING:
    from actiondbg.commands.interpreter.console import Console
    from actiondbg.commands.shell.prompt.termination import Termination

_WIDE = 120  # columns from which stack and changes stand beside the IR
_LEAST_SIDE = 44  # columns of them there
_BAR = "reverse"
_BACK = (b"\n", b"\r", b"\x0f", b"\x04", b"")  # Enter, Ctrl-O, Ctrl-D, the end of the input
# A terminal that supports synchronized updates draws what is between them at once.
_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h", "\x1b[?2026l"


class FullScreen:
    """The view of one console.

    Args:
        console: the console; its output goes to a pane while the view is attached.
        session: the prompt of the shell, whose editing, history and completion the view has.
        termination: handles the signals that end the shell.
    """

    def __init__(
        self,
        console: Console,
        session: PromptSession[str],
        prompt: str,
        termination: Termination,
    ) -> None:
        self._console = console
        self._prompt = prompt
        self._termination = termination
        self._output = session.output
        self._buffer = session.default_buffer
        self._transcript = Transcript()
        self._ir = panes.IRPane(console)
        self._panes = [
            panes.PaneControl(self._ir.rows),
            panes.PaneControl(lambda width, height: panes.stack_rows(console, width, height)),
            panes.PaneControl(lambda width, height: panes.changes_rows(console, width, height)),
            panes.PaneControl(self._transcript.rows),
        ]
        self._saved = console.out, console.err
        self._search = SearchToolbar()
        # A result of None asks for the terminal behind the panes.
        self._application: Application[str | None] = Application(
            Layout(self._container(), focused_element=self._buffer),
            style=session.style,
            key_bindings=self._bindings(),
            full_screen=True,
            erase_when_done=True,  # rather than draw once more, with other sizes
            color_depth=session.color_depth,
            editing_mode=session.editing_mode,
            input=session.input,
            output=session.output,
            after_render=self._end_update,
        )

    # --- attaching -----------------------------------------------------------

    def attach(self) -> None:
        """Direct the output of commands to the panes."""
        console = self._console
        console.terminal_written = False
        self._saved = out, err = console.out, console.err
        console.out = TranscriptStream(self._transcript)
        console.err = TranscriptStream(
            self._transcript, err, lambda: console.session.state == "running"
        )
        console.stop_context.in_pane = True
        out.flush()

    def detach(self) -> None:
        """Direct the output of commands to the terminal again."""
        self._console.out, self._console.err = self._saved
        self._console.stop_context.in_pane = False
        self._write(_END_UPDATE)

    def read_line(self) -> str:
        """Draw the panes and read a line.

        Raises:
            EOFError: Ctrl-D was pressed.
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        if self._console.terminal_written:
            self._console.terminal_written = False
            self._wait_for_enter()
        self._ir.follow()
        # Before the panes are drawn: Ctrl-C ends a wait for the tool only while no keys are read.
        for each in self._panes:
            each.refresh()
        self._buffer.reset()
        while (line := self._run()) is None:
            self._wait_for_enter()
        self._transcript.begin()
        self._transcript.write(f"{self._prompt}{line}\n")
        return line

    def _run(self) -> str | None:
        with self._termination.reading(self._application):
            return self._application.run(handle_sigint=False)

    def show_terminal(self) -> None:
        """Show the terminal behind the panes, with the line that runs and what it wrote."""
        self._write(_END_UPDATE)
        sys.stdout.write(self._transcript.unread())
        sys.stdout.flush()

    def _wait_for_enter(self) -> None:
        """Leave what a command wrote to the terminal in view, up to Enter or Ctrl-O."""
        self._write(_END_UPDATE)
        sys.stdout.write("Press Enter to return to the panes. ")
        sys.stdout.flush()
        number = sys.stdin.fileno()
        before = termios.tcgetattr(number)
        try:
            tty.setcbreak(number)
            while os.read(number, 1) not in _BACK:
                pass
        finally:
            termios.tcsetattr(number, termios.TCSADRAIN, before)
        sys.stdout.write("\n")

    def _end_update(self, application: Application[str | None]) -> None:
        if not application.is_done:  # else the panes of the next line end it
            self._write(_END_UPDATE)

    def _write(self, sequence: str) -> None:
        self._output.write_raw(sequence)
        self._output.flush()

    # --- layout --------------------------------------------------------------

    def _columns(self) -> int:
        return self._output.get_size().columns

    def _container(self) -> FloatContainer:
        ir, stack, changes, output = (Window(each) for each in self._panes)
        is_wide = Condition(lambda: self._columns() >= _WIDE)
        beside = HSplit(
            [_title("Stack"), stack, _title("Changes"), changes],
            width=lambda: Dimension.exact(max(self._columns() // 3, _LEAST_SIDE)),
        )
        below = VSplit(
            [
                HSplit([_title("Stack"), stack]),
                _divider(),
                HSplit([_title("Changes"), changes]),
            ],
            height=lambda: Dimension.exact(max(self._output.get_size().rows // 5, 3)),
        )
        top = VSplit(
            [
                HSplit([_bar(self._ir_title), ir]),
                ConditionalContainer(VSplit([_divider(), beside]), is_wide),
            ],
            height=Dimension(weight=2),
        )
        output.height = Dimension(weight=1, min=3)
        line = Window(
            BufferControl(self._buffer, search_buffer_control=self._search.control),
            get_line_prefix=lambda number, wrap: self._prompt if not number + wrap else "",
            wrap_lines=True,
            height=Dimension(min=1, max=4),
            dont_extend_height=True,
        )
        rows = [top, ConditionalContainer(below, ~is_wide), _bar(self._output_title), output, line]
        menu = Float(CompletionsMenu(max_height=12, scroll_offset=1), xcursor=True, ycursor=True)
        return FloatContainer(HSplit([*rows, self._search]), [menu])

    def _ir_title(self) -> str:
        return f" IR {panes.headline(self._console)}"

    def _output_title(self) -> str:
        below = self._transcript.rows_below
        more = f"{counted(below, 'row')} below" if below else "PageUp, PageDown"
        return f" Output  {more} | IR  Ctrl-Up, Ctrl-Down | Ctrl-O terminal | tui disable"

    # --- keys ----------------------------------------------------------------

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        is_searching = Condition(lambda: self._application.layout.is_searching)

        @bindings.add("enter", filter=~is_searching)
        def accept(event: KeyPressEvent) -> None:
            self._buffer.validate_and_handle()
            self._write(_BEGIN_UPDATE)

        @bindings.add("tab")
        def complete(event: KeyPressEvent) -> None:
            if self._buffer.complete_state:
                self._buffer.complete_next()
            else:
                self._buffer.start_completion(insert_common_part=True)

        @bindings.add("s-tab")
        def complete_back(event: KeyPressEvent) -> None:
            self._buffer.complete_previous()

        @bindings.add("c-o", filter=~is_searching)
        def show_terminal(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        @bindings.add("c-c", filter=~is_searching)
        def drop(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        @bindings.add("c-d", filter=~is_searching)
        def end(event: KeyPressEvent) -> None:
            if self._buffer.text:
                self._buffer.delete()
            else:
                event.app.exit(exception=EOFError())

        self._add_scrolling(bindings)
        return bindings

    def _add_scrolling(self, bindings: KeyBindings) -> None:
        ir, output = self._panes[0], self._panes[-1]

        def scroll_ir(rows: int) -> None:
            self._ir.scroll(rows)
            ir.refresh()

        def scroll_output(rows: int) -> None:
            self._transcript.scroll(rows)
            output.refresh()

        def scrolls(key: str, scroll: Callable[[int], None], rows: Callable[[], int]) -> None:
            @bindings.add(key)
            def handle(event: KeyPressEvent) -> None:
                scroll(rows())

        scrolls("pageup", scroll_output, lambda: 1 - output.height)
        scrolls("pagedown", scroll_output, lambda: output.height - 1)
        scrolls("c-up", scroll_ir, lambda: -1)
        scrolls("c-down", scroll_ir, lambda: 1)
        scrolls("c-pageup", scroll_ir, lambda: 1 - ir.height)
        scrolls("c-pagedown", scroll_ir, lambda: ir.height - 1)


def _title(text: str) -> Window:
    return _bar(lambda: f" {text}")


def _bar(text: Callable[[], str]) -> Window:
    def fragments() -> StyleAndTextTuples:
        return [(_BAR, text())]

    return Window(FormattedTextControl(fragments), height=1, style=_BAR)


def _divider() -> Window:
    return Window(width=1, char="│")
