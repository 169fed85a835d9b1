"""What can be asked of a host, typed. Each function is one request of `worker/serve.py`.

host = launch(plan)                    # started, LangGraph imported
loaded = load(host, plan)              # the user's graph
topology(host)                         # nodes, edges, channels
fold(host, …)                          # a DeltaChannel's whole value
preview(host, …)                       # an edit: hold, then re-route
job = run(host, …)                     # the graph runs, on a database file
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from retrograph.engine.host.client import Blobs, Host, Reply
from retrograph.engine.host.runs import Begin as Begin
from retrograph.engine.host.runs import run as run
from retrograph.engine.host.target import Launch
from retrograph.engine.model import RawWrite, Typed

LOADING = 120.0
"""Seconds that a graph may take to load: importing a model library takes a while."""


def launch(plan: Launch) -> Host:
    """Start a host and wait until LangGraph is there. Raises `GraphError`, `HostDiedError`."""
    host = Host.start(plan.python, Path(plan.project), plan.environment)
    try:
        host.hello()
    except BaseException:
        host.kill()
        host.close()
        raise
    return host


@dataclass(frozen=True, slots=True)
class Loaded:
    """A graph in its host."""

    name: str
    kind: Literal["graph", "builder", "factory"]
    """What the attribute was."""
    asynchronous: str | None
    """Why it runs under asyncio only ("node 'a' is async"); `None` where it need not."""
    saver: str | None
    """The class of the checkpointer that it brings, which is never used."""
    store: str | None
    """The class of its store (reads fall through to it, writes stay in the host), "empty" where
    an empty one is given in the server's place."""
    cache: str | None
    context: str | None
    """The class of the context that its nodes take, where one is declared."""
    context_required: bool
    """It has fields without a default."""
    subgraphs: Sequence[str]
    """Namespaces without task ids: "sub", "sub|inner"."""
    deltas: Sequence[str]
    """DeltaChannels of the root graph."""
    notes: Sequence[str]
    """What happened while it was loaded and is worth saying: a database that was opened."""


def load(host: Host, plan: Launch, timeout: float = LOADING) -> Loaded:
    """Load the graph. Raises `GraphError` with a sentence that says whose fault it is."""
    reply = host.ask(
        "load",
        timeout=timeout,
        target=plan.target.header(),
        allow=list(plan.allow),
        config=dict(plan.config),
        context=plan.context,
        trace=plan.trace,
    )
    return Loaded(
        **{name: reply[name] for name in Loaded.__dataclass_fields__},
    )


class Node(NamedTuple):
    """A node of a graph's topology."""

    name: str
    """`sub:node` for a node of a sub-graph, as LangGraph draws it."""
    kind: Literal["start", "end", "node", "subgraph"]
    deferred: bool


class Edge(NamedTuple):
    source: str
    target: str
    conditional: bool
    label: str | None


class ChannelKind(NamedTuple):
    """A channel of the state."""

    name: str
    kind: str
    """LangGraph's class: "LastValue", "BinaryOperatorAggregate", "DeltaChannel", …"""
    type: str
    """The annotated type, as text."""
    reducer: str | None
    """The function that joins writes: "operator.add", "langgraph.graph.message.add_messages"."""
    input: bool
    """Whether it is part of the graph's input."""
    output: bool


@dataclass(frozen=True, slots=True)
class Topology:
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    channels: Sequence[ChannelKind]
    mermaid: str
    ways: Sequence[tuple[str, str]] = ()
    """(from, to): where nodes may go as the graphs are defined, whatever is drawn: a router that
    does not state its ends may lead to any node of its graph."""
    routers: Mapping[str, bool] = field(default_factory=dict)
    """Nodes with a router that does not state its ends; and whether the edges drawn for it are
    those to the nodes that its code names, else to all."""


def topology(host: Host, xray: bool = False, timeout: float = 60.0) -> Topology:
    """The graph's topology, as `get_graph` knows it and with what that leaves out; `xray` opens
    sub-graphs."""
    reply = host.ask("topology", xray=xray, timeout=timeout)
    return Topology(
        nodes=[Node(**node) for node in reply["nodes"]],
        edges=[Edge(**edge) for edge in reply["edges"]],
        channels=[ChannelKind(**channel) for channel in reply["channels"]],
        mermaid=reply["mermaid"],
        ways=[(source, target) for source, target in reply["ways"]],
        routers=reply["routers"],
    )


class Delta(NamedTuple):
    """A DeltaChannel's value as it is stored: the nearest snapshot and the writes since."""

    channel: str
    seed: Typed | None
    """`None` where no ancestor has a stored value."""
    writes: Sequence[Typed]
    """From the seed's checkpoint up to the parent, as LangGraph applies them."""


def fold(
    host: Host, deltas: Sequence[Delta], ns: str = "", timeout: float = 60.0
) -> dict[str, Typed]:
    """The whole values of DeltaChannels, by channel. `ns`: the checkpoint's namespace.

    Raises `HostError` when a reducer raises or the graph has no such DeltaChannel.
    """
    blobs = Blobs()
    stated = [
        {
            "channel": delta.channel,
            "seed": None if delta.seed is None else blobs.add(delta.seed),
            "writes": [blobs.add(write) for write in delta.writes],
        }
        for delta in deltas
    ]
    reply = host.ask("fold", blobs=blobs, timeout=timeout, ns=ns, deltas=stated)
    return {name: reply.typed(value) for name, value in reply["values"].items()}


class CheckpointRow(NamedTuple):
    """A row of SqliteSaver's table `checkpoints`, for one thread."""

    ns: str
    id: str
    parent_id: str | None
    checkpoint: Typed
    """With all channel values inside."""
    metadata: bytes
    """JSON."""


class StoredWrite(NamedTuple):
    """A row of SqliteSaver's table `writes`, for one thread."""

    ns: str
    checkpoint_id: str
    task_id: str
    task_path: str
    idx: int
    channel: str
    value: Typed


@dataclass(frozen=True, slots=True)
class Rows:
    """What a host needs of a thread: a closure of checkpoints and writes."""

    thread_id: str
    checkpoints: Sequence[CheckpointRow]
    writes: Sequence[StoredWrite] = ()


class Edit(NamedTuple):
    """A new value for one channel."""

    channel: str
    """`__start__` at an input checkpoint: the pending input."""
    how: Literal["set", "reduce"]
    """*set*: the value becomes this; *reduce*: it goes through the channel's reducer, as a node's
    update would."""
    value: Typed | None
    """`None`: the channel is emptied (`--delete` of a whole channel)."""


class Producer(NamedTuple):
    """A task whose finishing led to the edited checkpoint, and what its routers say now."""

    node: str
    task_id: str
    recorded: Sequence[str]
    """Where it went: nodes; a join as its channel; a Send as its node."""
    again: Sequence[str] | None
    """Where it goes when its writers run again on the unedited state; `None`: they raised."""
    trusted: bool
    """Both are the same, so its routers can be asked about the edited state."""


@dataclass(frozen=True, slots=True)
class Preview:
    """An edit that was made in memory: no node ran; routers (and reducers, for *reduce*) did."""

    row: CheckpointRow
    """The edited child of the checkpoint, to be stored as it is."""
    next_before: Sequence[str] | None
    """Due at the checkpoint, sorted, one entry a task; `None` where LangGraph cannot say, because
    the state does not pass its own schema's checks."""
    next: Sequence[str] | None
    """Due at the edited child."""
    rerouted: bool
    """The routers were asked again on the edited state, and chose otherwise."""
    producers: Sequence[Producer]
    held: str | None
    """Why the recorded routes stand without asking, in a sentence; `None` where the routers were
    asked (`rerouted` says what they said) or `as_node` was given."""
    values: Mapping[str, Typed] = field(default_factory=dict)
    """The edited channels' values afterwards, by channel; an emptied one is absent."""
    warnings: Sequence[str] = ()


def preview(
    host: Host,
    rows: Rows,
    ns: str,
    checkpoint_id: str,
    edits: Sequence[Edit],
    parent_writes: Sequence[RawWrite] = (),
    *,
    nodes: Mapping[str, str] | None = None,
    edited: bool = False,
    alone: str | None = None,
    as_node: str | None = None,
    input: Typed | None = None,
    config: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    timeout: float | None = 60.0,
) -> Preview:
    """Make an edited child of a checkpoint in memory: hold, then re-route where that is safe.

    `rows` must hold the checkpoint without writes of its own (and what its DeltaChannels need);
    `parent_writes` are its parent's (of a fork without tasks of its own: those that led to what it
    copies), of which only the routes are sent; `nodes` names the nodes of tasks whose path does
    not (Sends), by task id; `edited`: an edit has asked these tasks for their routes since, so
    that what is due stands for them; `alone`: why there are no such tasks, in a sentence. `input`
    makes it a new input instead, without edits. `config` is LangGraph's, for routers that read it;
    `metadata` is added to the child's. Values are checked against the channels' types, and coerced.

    Raises `HostError`: an unknown channel (with the nearest name), a value that does not fit (with
    its path and the reason), an unknown `as_node`.
    """
    blobs = Blobs()
    routes = [write for write in parent_writes if _is_route(write.channel)]
    finished = {write.task_id: write for write in parent_writes if write.idx >= 0}
    reply = host.ask(
        "preview",
        blobs=blobs,
        timeout=timeout,
        rows=_rows(rows, blobs),
        ns=ns,
        checkpoint=checkpoint_id,
        edits=[
            {
                "channel": edit.channel,
                "how": edit.how,
                "value": None if edit.value is None else blobs.add(edit.value),
            }
            for edit in edits
        ],
        nodes=dict(nodes or {}),
        edited=edited,
        alone=alone,
        finished=[[write.task_id, write.task_path] for write in finished.values()],
        routes=[[write.task_id, write.channel, blobs.add(write.value)] for write in routes],
        as_node=as_node,
        input=None if input is None else blobs.add(input),
        config=dict(config or {}),
        metadata=dict(metadata or {}),
    )
    return _preview(reply, ns)


def _is_route(channel: str) -> bool:
    return channel == "__pregel_tasks" or channel.startswith(("branch:", "join:"))


def _rows(rows: Rows, blobs: Blobs) -> dict[str, Any]:
    return {
        "thread_id": rows.thread_id,
        "checkpoints": [
            [row.ns, row.id, row.parent_id, blobs.add(row.checkpoint), blobs.raw(row.metadata)]
            for row in rows.checkpoints
        ],
        "writes": [[*write[:-1], blobs.add(write.value)] for write in rows.writes],
    }


def _preview(reply: Reply, ns: str) -> Preview:
    row = reply["row"]
    return Preview(
        row=CheckpointRow(
            ns,
            row["id"],
            row["parent_id"],
            reply.typed(row["checkpoint"]),
            reply.blobs[row["metadata"]],
        ),
        next_before=reply["next_before"],
        next=reply["next"],
        rerouted=reply["rerouted"],
        producers=[Producer(**producer) for producer in reply["producers"]],
        held=reply["held"],
        values={name: reply.typed(value) for name, value in reply["values"].items()},
        warnings=reply["warnings"],
    )
