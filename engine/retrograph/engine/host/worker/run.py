"""The run: the graph streamed on a database file, everything told as it happens.

| event | brings |
|---|---|
| `task_start`, `task_end` | see `watch.Watcher`: exact, each attempt of a retried task by itself |
| `writes`, `checkpoint` | see `saver.WorkerSaver`: on disk |
| `interrupt` | `id`, `ns`, `task`, `node`, `value`: a question |
| `custom` | `ns`, `value` (or `text`, where it is too large or of no storable kind) |
| `message` | see `speech.Speech`: a token, or a message, of a model; on request |
| `paused` | held before a super-step; by a policy: `ns`, `node`, `why` |

`ns` is a checkpoint namespace (`sub:TASKID|inner:TASKID`).
"""

from __future__ import annotations

import inspect
import threading
import time
from typing import Any

from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from .faults import described
from .policies import Policies
from .saver import WorkerSaver
from .speech import Speech
from .steer import Steering
from .tap import MODES, tapped
from .watch import Watcher
from .wire import Values, Wire

_LARGE = 64 * 1024
"""Bytes of a custom event that are sent."""


class Run:
    """One run of a graph."""

    def __init__(self, wire: Wire, steering: Steering, serde: Any, policies: Policies) -> None:
        self._wire = wire
        self._steering = steering
        self._serde = serde
        self._policies = policies
        policies.wait = self._wait_inside
        self._held = False
        """The super-step of the root that begins has been held once."""
        self._why: dict[str, Any] = {}
        self._watcher = Watcher(wire.tell)
        self._fresh_step = True
        """A checkpoint of the root has been stored since a task of it was seen to be due."""
        self._open: dict[str, dict[str, Any]] = {}
        """Questions by id, with their typed values."""

    def saved(self, name: str, data: dict[str, Any]) -> None:
        """What the saver tells."""
        if name == "checkpoint" and data["ns"] == "":
            self._fresh_step = True
        self._wire.tell(name, data)

    def go(
        self, graph: Any, request: dict[str, Any], value: Any, loop: Any, why: str | None
    ) -> Any:
        """Run it. Returns the reply and its blobs. `why`: the reason for asyncio, if any."""
        asynchronous = request["asynchronous"]
        if asynchronous is None:
            asynchronous = why is not None
        self._steering.begin(request["paused"])
        config = self._config(request)
        options = _options(graph, request, config)
        if not asynchronous and tapped(graph, config["configurable"], self._take):
            options.update(stream_mode=MODES, subgraphs=False)
        began = time.perf_counter()
        status, error = "done", None
        try:
            if asynchronous:
                whole = loop.run_until_complete(self._astream(graph, value, config, options))
            else:
                whole = self._stream(graph, value, config, options)
            if not whole:
                status = "paused"
            elif self._open:
                status = "interrupted"
        except GraphRecursionError as raised:
            status, error = "limit", described(raised)
            error["sentence"] = " ".join(str(raised).split("\n")[0].split())
        except BaseException as raised:
            status, error = "error", self._fault(raised)
        values = Values()
        interrupts = [
            {**question, "value": values.add(question["value"])} for question in self._open.values()
        ]
        reply = {
            "status": status,
            "seconds": time.perf_counter() - began,
            "error": error,
            "asynchronous": bool(asynchronous),
            "interrupts": interrupts,
        }
        return reply, values.blobs

    def _config(self, request: dict[str, Any]) -> dict[str, Any]:
        stated = request["config"]
        configurable = {**stated.get("configurable", {}), "thread_id": request["thread_id"]}
        if request["begin"]["fresh"]:
            configurable["__pregel_resuming"] = False
        callbacks: list[Any] = [self._watcher]
        if request["messages"]:
            callbacks.append(Speech(self._wire.event))
        config = {**stated, "configurable": configurable, "callbacks": callbacks}
        if request["recursion_limit"] is not None:
            config["recursion_limit"] = request["recursion_limit"]
        return config

    def _stream(self, graph: Any, value: Any, config: Any, options: Any) -> bool:
        """Whether it ran to its end; False where it was stopped between two super-steps."""
        stream = graph.stream(value, config, **options)
        try:
            for part in stream:
                if self._take(part):
                    self._wire.event("paused", **self._why)
                    if not self._steering.wait():
                        return False
        finally:
            stream.close()
        return True

    async def _astream(self, graph: Any, value: Any, config: Any, options: Any) -> bool:
        import asyncio

        stream = graph.astream(value, config, **options)
        try:
            async for part in stream:
                if self._take(part):
                    self._wire.event("paused", **self._why)
                    loop = asyncio.get_running_loop()
                    if not await loop.run_in_executor(None, self._steering.wait):
                        return False
        finally:
            await stream.aclose()
        return True

    def _take(self, part: Any) -> bool:
        """Tell of a part of the stream. Whether the run is to be held now."""
        path, mode, payload = part if len(part) == 3 else ((), *part)
        ns = "|".join(path)
        if mode == "tasks":
            if "triggers" in payload:
                return self._due(ns, payload)
            for question in payload.get("interrupts") or ():
                self._asked(ns, payload, question)
        elif mode == "custom":
            self._custom(ns, payload)
        return False

    def _due(self, ns: str, task: dict[str, Any]) -> bool:
        """A task of a super-step that begins. Whether it is to be held before it."""
        if ns:
            return False
        self._why = {}
        if self._fresh_step:
            self._fresh_step = self._held = False
            if not self._steering.free:
                if self._steering.holds():
                    self._held = True
                    return True
                self._steering.wait()  # takes one step, where steps are counted
        why = self._policies.holds("", task["name"], None)
        if why is None or self._held:
            return False
        self._held = True
        self._steering.hold()
        self._why = {"ns": "", "node": task["name"], "why": why}
        return True

    def _wait_inside(self, why: dict[str, Any]) -> None:
        """Hold a node inside a sub-graph, in its own thread."""
        self._steering.hold()
        self._wire.event("paused", **why)
        if not self._steering.wait():
            threading.Event().wait()  # the viewer ends this process

    def _asked(self, ns: str, task: dict[str, Any], question: Any) -> None:
        stated = question if isinstance(question, dict) else vars(question)
        name = str(stated.get("id") or stated.get("interrupt_id") or task["id"])
        if name in self._open:  # told again by the tasks around it
            return
        typed = self._typed(stated.get("value"))
        data = {"id": name, "ns": ns, "task": task["id"], "node": task["name"]}
        self._open[name] = {**data, "value": typed}
        values = Values()
        self._wire.event("interrupt", values.blobs, **data, value=values.add(typed))

    def _custom(self, ns: str, payload: Any) -> None:
        values = Values()
        try:
            typed = self._serde.dumps_typed(payload)
            if len(typed[1]) > _LARGE:
                raise ValueError
        except Exception:
            text = repr(payload)
            self._wire.event("custom", ns=ns, text=text[:_LARGE], cut=len(text) > _LARGE)
            return
        self._wire.event("custom", values.blobs, ns=ns, value=values.add(typed))

    def _typed(self, value: Any) -> tuple[str, bytes]:
        try:
            return self._serde.dumps_typed(value)  # type: ignore[no-any-return]
        except Exception:
            return self._serde.dumps_typed(repr(value))  # type: ignore[no-any-return]

    def _fault(self, raised: BaseException) -> dict[str, Any]:
        """The exception with its node: the innermost task that raised it."""
        return self._watcher.told(raised) or described(raised)


def _options(graph: Any, request: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """Keywords for `stream`, as far as this LangGraph has them."""
    known = inspect.signature(graph.stream).parameters
    options: dict[str, Any] = {"stream_mode": ["tasks", "custom"], "subgraphs": True}
    if "durability" in known:
        options["durability"] = "sync"
    context = request["context"]
    if context is not None:
        if "context" in known:
            options["context"] = context
        else:
            config["configurable"] = {**context, **config["configurable"]}
    return options


def begun(begin: dict[str, Any], value: Any) -> Any:
    """What the graph is called with."""
    if begin["how"] == "input":
        return value
    return Command(resume=value) if begin["how"] == "resume" else None


def saver_for(run: Run, database: str, serde: Any) -> WorkerSaver:
    """A saver on the file that tells the run of each commit."""
    return WorkerSaver(database, serde, run.saved)
