"""The output pane of the full-screen view."""

from __future__ import annotations

from actiondbg.commands.shell.prompt.full_screen.transcript import Transcript, TranscriptStream


def shown(transcript: Transcript, width: int = 10, height: int = 3) -> list[str]:
    return ["".join(fragment[1] for fragment in row) for row in transcript.rows(width, height)]


def test_the_end_is_in_view_if_the_newest_output_fits() -> None:
    transcript = Transcript()
    for number in range(8):
        transcript.begin()
        transcript.write(f"line {number}\n")
    assert shown(transcript) == ["line 5", "line 6", "line 7"]
    assert transcript.rows_below == 0


def test_output_that_does_not_fit_is_in_view_from_its_beginning() -> None:
    transcript = Transcript()
    transcript.write("older\n")
    transcript.begin()
    transcript.write("\x1b[1ma bold line\x1b[0m\n" + "".join(f"{n}\n" for n in range(5)))
    assert shown(transcript) == ["a bold lin", "e", "0"]
    assert transcript.rows_below == 4
    transcript.scroll(2)
    assert shown(transcript) == ["0", "1", "2"]
    transcript.scroll(99)
    assert shown(transcript) == ["2", "3", "4"]
    transcript.scroll(-99)
    assert shown(transcript) == ["older", "a bold lin", "e"]


def test_a_line_may_be_written_in_parts() -> None:
    transcript = Transcript()
    stream = TranscriptStream(transcript)
    print("a", "b", sep="\t", end="", file=stream)
    assert shown(transcript) == ["a       b"]
    print(file=stream)
    assert shown(transcript) == ["a       b"]
    assert transcript.unread() == "a\tb\n"
    assert transcript.unread() == ""
