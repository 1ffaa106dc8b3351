"""``actiondbg export --parquet DIR RUN.adbrec...``."""

from __future__ import annotations

from pathlib import Path

from actiondbg.commands.cli.line_parser import LineParser, Partial, subcommand
from actiondbg.commands.interpreter.error_text import writing
from actiondbg.commands.interpreter.options import Options, option, positional
from actiondbg.commands.render.terminal.output import print_notice
from actiondbg.recording.errors import need_packages
from actiondbg.support.counts import counted

_EPILOG = """\
examples:
  actiondbg export --parquet bucket run.adbrec
  actiondbg query bucket "select run, sum(self_ns) from actions group by run"
  duckdb -c "select run, count(*) from read_parquet('bucket/*/actions.parquet') group by run"

Each recording becomes a folder run=NAME-ID in DIR with one Parquet file a table. The name depends
only on the recording, so that exports of several machines can share a bucket.

exit status: 0 success, 1 error, 2 bad usage.
"""


class ExportOptions(Options):
    parquet: Path = option("DIR", help="the folder to write to")
    recordings: tuple[str, ...] = positional(
        "RUN.adbrec", required=True, help="recordings, or folders of them"
    )
    partial: Partial = False


@subcommand("export", "--parquet DIR [options] RUN.adbrec...", ExportOptions, _EPILOG)
def run(parser: LineParser[ExportOptions], argv: list[str]) -> int:
    """Export recordings to Parquet files."""
    options = parser.read(argv)
    need_packages("actiondbg export")
    from actiondbg.recording.query.export import export
    from actiondbg.recording.query.sources import open_sources

    sources = open_sources(options.recordings, partial=options.partial)
    if sources.exports:
        parser.error(
            f"{sources.exports[0]!r} is an export already: name recordings, or a folder of them."
        )
    for sentence in sources.sentences():
        print_notice(sentence)
    for recording in sources.recordings.values():
        with writing(options.parquet):
            folder, size = export(recording, options.parquet)
        count = counted(recording.count, "action")
        print(f"{folder}: {count}, {size / 1e6:.1f} MB")
    return 0
