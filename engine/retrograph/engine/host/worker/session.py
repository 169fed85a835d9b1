"""What a host does on request, from the loading of the graph to its run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any

import ormsgpack

from . import deltas, tracing
from .asyncness import why_asynchronous
from .faults import GraphError, RequestError, described, one_line
from .gate import Gate
from .graphs import Found, Loader
from .isolate import Isolation, subgraphs
from .opened import opened_since, opening
from .serde import GateSerde
from .steer import Steering
from .wire import Wire

Answer = tuple[dict[str, Any], list[bytes]]
_CLOSING = 2.0
"""Seconds that the user's context managers have to close."""


class Session:
    """One host's graph and what is done with it."""

    def __init__(self, wire: Wire, steering: Steering) -> None:
        self._wire = wire
        wire.packb = ormsgpack.packb
        self._steering = steering
        self._loop: Any = None
        self._loader: Loader | None = None
        self._found: Found | None = None
        self._served = False
        self._trace = False
        self._config: dict[str, Any] = {}
        self._gate = Gate()
        self._serde = GateSerde(self._gate)
        self._isolation = Isolation(self._serde)

    def do(self, name: str, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        """Carry out one request. Raises `GraphError`, `RequestError`, or what user code raises."""
        work = {
            "load": self.load,
            "topology": self.topology,
            "fold": self.fold,
            "preview": self.preview,
            "run": self.run,
        }.get(name)
        if work is None:
            raise RequestError(f"The graph's process does not know {name!r}.")
        return work(request, blobs)

    def load(self, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        self._trace = request["trace"]
        self._config = request["config"]
        self._served = request["target"]["served"]
        self._gate = Gate(request["allow"])
        self._serde = GateSerde(self._gate)
        self._isolation = Isolation(self._serde)
        self._loader = Loader(self.loop, self._config, request["context"])
        before = opening()
        found = self._loader.load(request["target"])
        self._gate.aliases.update(dict.fromkeys(found.names, found.module))
        if not self._trace:
            tracing.off()
        if not hasattr(found.graph, "channels"):
            raise GraphError(f"{request['target']['shown']} is no local graph: it runs elsewhere.")
        self._found = found
        graph = found.graph
        context, required = _context(graph, request["context"])
        return {
            "name": graph.name,
            "kind": found.kind,
            "asynchronous": why_asynchronous(graph),
            "saver": _class(graph.checkpointer),
            "store": "empty" if graph.store is None and self._served else _class(graph.store),
            "cache": _class(graph.cache),
            "context": context,
            "context_required": required,
            "subgraphs": [ns for ns, _ in subgraphs(graph)],
            "deltas": deltas.names(graph),
            "notes": opened_since(before, request["target"]["shown"]),
        }, []

    def topology(self, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        from .topology import described

        return described(self.graph, request["xray"], self._config), []

    def fold(self, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        return deltas.fold(self.graph, request, blobs, self._serde)

    def preview(self, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        from .preview import Preview

        with tracing.context(self._trace):
            loop = self.loop if why_asynchronous(self.graph) else None
            asked = Preview(self.graph, self._isolation, self._serde, request, blobs, loop)
            return asked.answer()

    def run(self, request: dict[str, Any], blobs: Sequence[bytes]) -> Answer:
        from .policies import Policies
        from .run import Run, begun, saver_for

        stated = request["begin"]["value"]
        value = None
        if stated is not None:
            value = self._serde.loads_typed((stated["type"], blobs[stated["blob"]]))
        policies = Policies(request["policies"], blobs, self._serde)
        run = Run(self._wire, self._steering, self._serde, policies)
        saver = saver_for(run, request["database"], self._serde)
        saver.goes_past = request["begin"]["fresh"]
        try:
            graph = self._isolation.graph(self.graph, saver, self._served)
            why = why_asynchronous(graph)
            policies.put_in_place(graph)
            with tracing.context(self._trace):
                reply, values = run.go(
                    graph, request, begun(request["begin"], value), self.loop, why
                )
        finally:
            saver.close()
        return {**reply, "classes": sorted(self._gate.made)}, values

    @property
    def graph(self) -> Any:
        """The loaded graph, with what it brings."""
        if self._found is None:
            raise RequestError("No graph is loaded.")
        return self._found.graph

    @property
    def loop(self) -> Any:
        """The one event loop of this host: what is opened under it is used under it."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop

    def close(self) -> None:
        """Leave the user's context managers, for a moment."""
        if self._loader is None:
            return
        try:
            self.loop.run_until_complete(asyncio.wait_for(self._loader.close(), _CLOSING))
        except BaseException as error:
            sys.stderr.write(f"on leaving: {described(error)['sentence']}\n")


def _context(graph: Any, given: Any) -> tuple[str | None, bool]:
    """The class of the context that the graph declares, and whether it must be given. Raises
    `GraphError` where what is given does not fit it."""
    schema = getattr(graph, "context_schema", None)
    if schema is None:
        return None, False
    try:
        schema()
        required = False
    except Exception:
        required = True
    name = getattr(schema, "__qualname__", str(schema))
    # As LangGraph makes it of a dict when the run begins.
    if isinstance(given, dict) and (is_dataclass(schema) or hasattr(schema, "model_fields")):
        try:
            schema(**given)
        except Exception as error:
            raise GraphError(
                f"The context does not fit the graph's {name}: {one_line(error)}."
            ) from error
    return name, required


def _class(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    return type(getattr(value, "base", value)).__name__  # what an overlay lies over
