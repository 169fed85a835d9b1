"""A door in front of a server, that tests shut: connections break, and new ones are refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any


class Door:
    """Passes every connection on to a port, while it is open."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = 0
        self.open()

    def open(self) -> None:
        """Let connections through, at the same port as before."""
        self._do(self._open())

    def shut(self) -> None:
        """Break every connection, and refuse new ones."""
        self._do(self._shut())

    def drop(self) -> None:
        """Break every connection; new ones are let through."""
        self._do(self._drop())

    def close(self) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._drop()

    async def _drop(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()
        # What reads from them sees that they are gone, and ends.
        while self._writers:
            await asyncio.sleep(0.01)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond_reader, beyond = await asyncio.open_connection("127.0.0.1", self._to)
        both = {writer, beyond}
        self._writers |= both
        try:
            await asyncio.gather(_copy(reader, beyond), _copy(beyond_reader, writer))
        finally:
            for one in both:
                one.transport.abort()
            self._writers -= both


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.transport.abort()
