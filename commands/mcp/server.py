"""The server: tools, resources and prompts for the SDK of MCP."""

from __future__ import annotations

import asyncio
import contextlib
import glob
import time
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from actiondbg import __version__
from actiondbg.commands.interpreter.error_text import as_reported, message_of
from actiondbg.commands.mcp.answers import Answer
from actiondbg.commands.mcp.client import Client
from actiondbg.commands.mcp.declaration import schema_of
from actiondbg.commands.mcp.prompts import INSTRUCTIONS, PROMPTS
from actiondbg.commands.mcp.tools import TOOLS, MoreArguments
from actiondbg.commands.mcp.worker import Progress
from actiondbg.commands.mcp.worker_pool import WorkerPool
from actiondbg.errors import ActiondbgError, UsageError

Context = ServerRequestContext[Any]
_MOST_RECORDINGS = 100  # that are listed
_LONGEST_RESOURCE = 200_000  # characters
_SESSION = "actiondbg://session/"
_RECORDING = "actiondbg://recording/"
_CLIENT = "actiondbg.client"  # the key of a connection's state
_TICK_SECONDS = 15.0  # between looks for unused sessions


class DebugServer:
    """The handlers of the SDK's server.

    Args:
        workers: of all clients.
        idle_seconds: the time after which an unused session is ended, as the end of a client of
            HTTP may not be seen; None for never.
    """

    def __init__(self, workers: WorkerPool, idle_seconds: float | None) -> None:
        self._workers = workers
        self._idle_seconds = idle_seconds
        # Of standard input, and of clients of HTTP whose protocol has no sessions any more.
        self._shared = Client(workers)
        self._clients = {self._shared}

    def build(self) -> Server[Any]:
        return Server(
            "actiondbg",
            version=__version__,
            title="actiondbg, a debugger for MLIR compilers",
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Server[Any]) -> AsyncGenerator[dict[str, Any]]:
        reaper = asyncio.create_task(self._end_unused())
        try:
            yield {}
        finally:
            reaper.cancel()
            await asyncio.shield(self.close())

    async def close(self) -> None:
        await self._workers.close()

    async def _end_unused(self) -> None:
        while self._idle_seconds is not None:
            await asyncio.sleep(min(_TICK_SECONDS, self._idle_seconds))
            for client in list(self._clients):
                await client.end_unused(self._idle_seconds)

    def _client(self, context: Context) -> Client:
        """Return the client of a session of HTTP, which ends with it; or the shared one."""
        connection = context.session._connection  # pyright: ignore[reportPrivateUsage]
        if connection.session_id is None:
            return self._shared
        if _CLIENT not in connection.state:
            client = connection.state[_CLIENT] = Client(self._workers)
            self._clients.add(client)
            connection.exit_stack.callback(self._clients.discard, client)
            connection.exit_stack.push_async_callback(client.close)
        found: Client = connection.state[_CLIENT]
        return found

    # --- tools ---

    async def _list_tools(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        output = schema_of(Answer)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=each.name,
                    description=each.about,
                    input_schema=each.schema(),
                    output_schema=output,
                    annotations=types.ToolAnnotations(read_only_hint=each.only_reads),
                )
                for each in TOOLS.values()
                if each.listed
            ]
        )

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        client = self._client(context)
        try:
            answer, failed = await self._answer(context, client, params)
        except Exception as error:
            doing = f"the tool {params.name}"
            answer, failed = Answer(message_of(as_reported(error, doing))), True
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=msgspec.to_builtins(answer),
            is_error=failed,
        )

    async def _answer(
        self, context: Context, client: Client, params: types.CallToolRequestParams
    ) -> tuple[Answer, bool]:
        tool = TOOLS.get(params.name)
        if tool is None or not tool.listed:
            raise UsageError(f"There is no tool {params.name!r}: tools/list lists them.")
        arguments = tool.parse(params.arguments or {})
        if isinstance(arguments, MoreArguments):
            return _more(client, arguments), False
        report = _ProgressSender(context).send
        result, session = await client.call(tool, arguments, report)
        head = f"Session {session}.\n" if tool.name == "open" and session else ""
        text, rest = client.long_answers.first_page(head + result.text)
        return Answer.of(result, text, session, rest), result.error

    # --- resources ---

    async def _list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = [
            types.Resource(
                uri=f"{_SESSION}{each.id}/ir/module",
                name=f"IR of session {each.id}",
                description=f"the module as it is now in {each.command}",
                mime_type="text/x-mlir",
            )
            for each in self._client(context).sessions()
        ]
        found += [
            types.Resource(
                uri=_RECORDING + quote(path),
                name=path,
                description="a recorded compilation: the command, passes and patterns",
                mime_type="text/plain",
            )
            for path in self._recordings()
        ]
        return types.ListResourcesResult(resources=found)

    def _recordings(self) -> list[str]:
        paths = glob.iglob(
            "**/*.adbrec", root_dir=self._workers.restrictions.directory, recursive=True
        )
        return sorted(path for path, _ in zip(paths, range(_MOST_RECORDINGS), strict=False))

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=_SESSION + "{session}/ir/{what}",
                    name="IR of a session",
                    description="IR as it is now: cursor, action, function, module, or a place",
                    mime_type="text/x-mlir",
                ),
                types.ResourceTemplate(
                    uri_template=_RECORDING + "{path}",
                    name="A recording",
                    description="the command, the passes and the patterns of a recording",
                    mime_type="text/plain",
                ),
            ]
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            tool, given, kind = _resource_call(uri)
            arguments = TOOLS[tool].parse(given)
            result, _ = await self._client(context).call(
                TOOLS[tool], arguments, _ProgressSender(context).send
            )
        except ActiondbgError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        if result.error:
            raise MCPError(types.INVALID_PARAMS, result.text)
        text = result.text
        if len(text) > _LONGEST_RESOURCE:
            rest = f"{len(text) - _LONGEST_RESOURCE:,} more characters"
            text = f"{text[:_LONGEST_RESOURCE]}\n[{rest}: the tool show_ir pages through them.]"
        content = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    # --- prompts ---

    async def _list_prompts(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=each.name,
                    description=each.about,
                    arguments=[
                        types.PromptArgument(name=name, description=about, required=not index)
                        for index, (name, about) in enumerate(each.arguments.items())
                    ],
                )
                for each in PROMPTS.values()
            ]
        )

    async def _get_prompt(
        self, _: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        prompt = PROMPTS.get(params.name)
        if prompt is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"There is no prompt {params.name!r}: there are {', '.join(PROMPTS)}.",
            )
        try:
            text = prompt.filled(params.arguments or {})
        except KeyError as error:
            message = f"The argument {error.args[0]!r} of the prompt is missing."
            raise MCPError(types.INVALID_PARAMS, message) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.about, messages=[message])


class _ProgressSender:
    """Sends the progress of a request; the numbers must grow from one to the next."""

    def __init__(self, context: Context) -> None:
        self._session = context.session
        self._since = time.monotonic()
        self._last = 0.0

    async def send(self, progress: Progress) -> None:
        done = time.monotonic() - self._since if progress.done is None else float(progress.done)
        self._last = max(done, self._last + 0.001)
        total = progress.total
        await self._session.report_progress(
            self._last, None if total is None else float(total), progress.text
        )


def _more(client: Client, given: MoreArguments) -> Answer:
    try:
        text, rest = client.long_answers.page(given.answer, given.offset)
    except KeyError:
        raise UsageError(
            f"There is no text {given.answer!r}, or it is forgotten: ask again for what it showed."
        ) from None
    return Answer(text, rest=rest)


def _resource_call(uri: str) -> tuple[str, dict[str, str], str]:
    """Return the tool that reads a resource, its arguments, and the type of the text.

    Raises:
        UsageError: there is no such resource.
    """
    if uri.startswith(_RECORDING):
        path = unquote(uri.removeprefix(_RECORDING))
        return "describe_recording", {"recording": path}, "text/plain"
    session, found, what = uri.removeprefix(_SESSION).partition("/ir/")
    if not uri.startswith(_SESSION) or not found:
        raise UsageError(f"There is no resource {uri!r}: resources/templates/list has their forms.")
    return "show_ir", {"session": session, "what": unquote(what)}, "text/x-mlir"
