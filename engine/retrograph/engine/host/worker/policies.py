"""What a node does in a run: itself, what was recorded of it, what the user says, or wait.

A stub takes the place of a node's function; its writers, and so its routers, run on what the stub
gives. A recorded output is a stub that gives the recorded writes, in their order. The n-th
super-step in which a node runs gets what was recorded of the n-th one, and there each task that
of the same Send.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Callable

from langchain_core.runnables import RunnableLambda
from langgraph.func import entrypoint
from langgraph.types import Command

from .faults import RequestError
from .isolate import subgraph

_TASKS = "__pregel_tasks"
_TO = "branch:to:"
_END = "__end__"
_PREVIOUS = "__previous__"

Wait = Callable[[dict[str, Any]], None]


class Policies:
    """The policies of one run, put in place on a graph.

    Each is stated as `{"ns", "node", "policy"}`: `ns` is the sub-graph without task ids; a stub
    has `value`, a recording `steps`: super-steps, each a list of `[send or null, [[channel,
    value], …]]`. Values are typed.
    """

    def __init__(
        self, stated: Sequence[dict[str, Any]], blobs: Sequence[bytes], serde: Any
    ) -> None:
        self._stated = {(one["ns"], one["node"]): one for one in stated}
        self._blobs = blobs
        self._serde = serde
        self._recordings: dict[tuple[str, str], _Recording] = {}
        self.wait: Wait = lambda why: None
        """Called before a node inside a sub-graph that shall wait, in its thread."""

    def __bool__(self) -> bool:
        return bool(self._stated)

    def put_in_place(self, graph: Any) -> None:
        """Raises `RequestError` where the graph has no such node."""
        for (ns, name), stated in self._stated.items():
            inner = subgraph(graph, ns)
            if inner is None or name not in inner.nodes or name == "__start__":
                where = f"{ns.replace('|', ':')}:{name}" if ns else name
                raise RequestError(f"The graph has no node '{where}'.")
            made = self._made(inner, ns, name, stated)
            if made is not None:
                node = inner.nodes[name].copy(update={"bound": made})
                inner.nodes = {**inner.nodes, name: node}

    def of(self, ns: str, node: str) -> str:
        """A node's policy; `ns` is a namespace with or without task ids."""
        stated = self._stated.get((bare(ns), node))
        return "live" if stated is None else str(stated["policy"])

    def holds(self, ns: str, node: str, step: Any) -> str | None:
        """Why a task must wait before it runs, in words; `None` where it need not."""
        if not self._stated:
            return None
        policy = self.of(ns, node)
        if policy == "pause":
            return "as asked for"
        recording = self._recordings.get((bare(ns), node))
        if recording is not None and not recording.has(ns, step):
            return "nothing more is recorded of it"
        return None

    def _made(self, graph: Any, ns: str, name: str, stated: dict[str, Any]) -> Any:
        policy = stated["policy"]
        live = graph.nodes[name].bound
        if policy == "stub":
            given = _given(self._loaded(stated["value"]), graph, name)
            return _runnable(lambda state, config: given, name)
        if policy == "recorded":
            recording = _Recording(
                [
                    {send: [(c, self._loaded(v)) for c, v in writes] for send, writes in step}
                    for step in stated["steps"]
                ],
                _Edges(graph, name),
            )
            self._recordings[ns, name] = recording
            return _Recorded(recording, live, self._gate(ns, name)).runnable(name)
        if policy == "pause" and ns:
            return _Paused(live, self._gate(ns, name)).runnable(name)
        return None  # before a node of the root graph the whole run is held

    def _gate(self, ns: str, name: str) -> Callable[[Any], None]:
        def gate(config: Any) -> None:
            metadata = config.get("metadata") or {}
            step = metadata.get("langgraph_step")
            where = str(metadata.get("langgraph_checkpoint_ns", ""))
            outer = where.rpartition("|")[0]
            why = self.holds(outer, name, step)
            if ns and why is not None:
                self.wait({"ns": outer, "node": name, "step": step, "why": why})

        return gate

    def _loaded(self, typed: dict[str, Any]) -> Any:
        return self._serde.loads_typed((typed["type"], self._blobs[typed["blob"]]))


def bare(ns: str) -> str:
    """A namespace without task ids and counters."""
    return "|".join(part.split(":")[0] for part in ns.split("|") if not part.isdigit())


class _Edges:
    """Where a node goes by itself: what a recorded route has besides came of a `Command`.

    Its writers run in one order (`StateGraph.compile`): the `Command`, edges, joins, routers.
    """

    def __init__(self, graph: Any, name: str) -> None:
        builder = getattr(graph, "builder", None)
        self._fixed = [_TO + end for start, end in getattr(builder, "edges", ()) if start == name]
        for starts, end in getattr(builder, "waiting_edges", ()):
            if name in starts:
                self._fixed.append(f"join:{'+'.join(starts)}:{end}")
        self._fixed = sorted(channel for channel in self._fixed if channel in graph.channels)
        self._ends: set[str] = set()
        branches = (getattr(builder, "branches", None) or {}).get(name, {}).values()
        self._anywhere = any(branch.ends is None for branch in branches)
        self._routers = bool(branches)
        for branch in branches:
            self._ends.update((branch.ends or {}).values())

    def commanded(self, routes: list[tuple[str, Any]]) -> list[Any]:
        """Nodes and Sends that a `Command` named, of (channel, Send or `None`) as written. Where a
        router is all that the node has, what it could have chosen is taken for its choice."""
        count = len(self._fixed)
        if not self._routers:
            return [_goal(*route) for route in routes[: max(len(routes) - count, 0)]]
        if count:
            for at in range(len(routes) - count + 1):
                if sorted(channel for channel, _ in routes[at : at + count]) == self._fixed:
                    return [_goal(*route) for route in routes[:at]]
        goals = [_goal(*route) for route in routes if not route[0].startswith("join:")]
        return [goal for goal in goals if not self._may_choose(getattr(goal, "node", goal))]

    def _may_choose(self, node: str) -> bool:
        return self._anywhere or node in self._ends or _TO + node in self._fixed


def _goal(channel: str, send: Any) -> Any:
    return channel[len(_TO) :] if send is None else send


class _Recording:
    """What was recorded of a node, super-step after super-step."""

    def __init__(self, steps: list[dict[Any, list[tuple[str, Any]]]], edges: _Edges) -> None:
        self._steps = steps
        self._edges = edges
        self._numbers: dict[tuple[str, Any], int] = {}
        self._lock = threading.Lock()

    def number(self, ns: str, step: Any) -> int:
        """Which super-step of the node's this is, counted from 0."""
        with self._lock:
            return self._numbers.setdefault((ns, step), len(self._numbers))

    def has(self, ns: str, step: Any) -> bool:
        with self._lock:
            known = self._numbers.get((ns, step))
            return (len(self._numbers) if known is None else known) < len(self._steps)

    def output(self, config: Any) -> Any:
        """What the node gives now; raises `LookupError` where nothing is recorded."""
        metadata = config.get("metadata") or {}
        path: Any = metadata.get("langgraph_path") or ()
        send = path[1] if len(path) > 1 and path[0] == "__pregel_push" else None
        ns = str(metadata.get("langgraph_checkpoint_ns", "")).rpartition("|")[0]
        number = self.number(ns, metadata.get("langgraph_step"))
        step = self._steps[number]
        return self._command(step[send] if send in step else step[_only(step)])

    def _command(self, writes: list[tuple[str, Any]]) -> Any:
        ends = dict(writes)
        if _END in ends:  # an entrypoint: what it returned and what it kept
            return entrypoint.final(value=ends[_END], save=ends.get(_PREVIOUS))
        update = [
            (channel, value)
            for channel, value in writes
            if not channel.startswith(("branch:", "join:", "__"))
        ]
        routes: list[tuple[str, Any]] = []
        for channel, value in writes:
            if channel.startswith((_TO, "join:")):
                routes.append((channel, None))
            elif channel == _TASKS:
                sends = value if isinstance(value, (list, tuple)) else [value]
                routes += [(channel, send) for send in sends]
        goto = self._edges.commanded(routes)
        if not update and not goto:
            return None
        return Command(update=update, goto=goto)


def _only(step: dict[Any, Any]) -> Any:
    if len(step) != 1:
        raise LookupError("a Send that was not recorded")
    return next(iter(step))


class _Recorded:
    """A node that gives what was recorded; where that has run out it runs itself, once the gate
    has let it through."""

    def __init__(self, recording: _Recording, live: Any, gate: Callable[[Any], None]) -> None:
        self._recording = recording
        self._live = live
        self._gate = gate

    def runnable(self, name: str) -> Any:
        def given(state: Any, config: Any) -> Any:
            try:
                return self._recording.output(config)
            except LookupError:
                self._gate(config)
                return self._live.invoke(state, config)

        async def agiven(state: Any, config: Any) -> Any:
            try:
                return self._recording.output(config)
            except LookupError:
                await _in_thread(self._gate, config)
                return await self._live.ainvoke(state, config)

        return RunnableLambda(given, afunc=agiven, name=name)


class _Paused:
    """A node inside a sub-graph that waits before it runs."""

    def __init__(self, live: Any, gate: Callable[[Any], None]) -> None:
        self._live = live
        self._gate = gate

    def runnable(self, name: str) -> Any:
        def waited(state: Any, config: Any) -> Any:
            self._gate(config)
            return self._live.invoke(state, config)

        async def awaited(state: Any, config: Any) -> Any:
            await _in_thread(self._gate, config)
            return await self._live.ainvoke(state, config)

        return RunnableLambda(waited, afunc=awaited, name=name)


async def _in_thread(gate: Callable[[Any], None], config: Any) -> None:
    import asyncio

    await asyncio.get_running_loop().run_in_executor(None, gate, config)


def _runnable(function: Callable[[Any, Any], Any], name: str) -> Any:
    def once(state: Any, config: Any) -> Any:
        return function(state, config)

    async def again(state: Any, config: Any) -> Any:
        return function(state, config)

    return RunnableLambda(once, afunc=again, name=name)


def _given(value: Any, graph: Any, name: str) -> Any:
    """What a stub gives: `{"$goto": …, "$update": …}` is a `Command`. Raises `RequestError` for a
    channel that the graph does not have, which LangGraph would drop without a word."""
    command = isinstance(value, dict) and ("$goto" in value or "$update" in value)
    update = value.get("$update") if command else value
    if isinstance(update, dict):
        for channel in update:
            if channel not in graph.channels or channel.startswith(("branch:", "join:", "__")):
                raise RequestError(
                    f"The stub of '{name}' gives '{channel}', which is no channel of the graph."
                )
    if not command:
        return value
    goto = value.get("$goto") or ()
    goto = [goto] if isinstance(goto, str) else list(goto)
    for node in goto:
        if isinstance(node, str) and node not in graph.nodes and node != "__end__":
            raise RequestError(f"The stub of '{name}' goes to '{node}', which is no node.")
    return Command(update=update, goto=goto)
