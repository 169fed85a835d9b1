"""What a scenario drives graphs with: every call is streamed, and what was seen is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

TASKS = "__pregel_tasks"
CONTROL = ("__error__", "__error_source_node__", "__interrupt__", "__resume__")


@dataclass
class Seen:
    """What was observed of a thread while it ran, by task and checkpoint id. Not read back from
    the store."""

    finished: dict[str, None] = field(default_factory=dict)
    """Ids of the tasks that ended well, the hidden ones (`__start__`) too, as an ordered set."""
    going: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tasks that started and were not seen to end, with their namespaces. Where the super-step
    ends all the same, their output came from a cache."""
    wrote: dict[str, list[str]] = field(default_factory=dict)
    """Task id to the destinations that it handed to the saver (nodes; a join as its node). Of a
    task that ran more than once savers keep the first."""
    turned: set[str] = field(default_factory=set)
    """Ids of tasks that ran again and went elsewhere."""
    made: dict[str, list[str]] = field(default_factory=dict)
    """Checkpoint id to the ids of the tasks finished when it appeared."""
    names: dict[str, str] = field(default_factory=dict)
    """Task id to node, of all tasks that were seen."""
    calls: set[str] = field(default_factory=set)
    """Ids of the tasks that are functions called by a node (`@task`)."""
    lately: dict[str, list[str]] = field(default_factory=dict)
    """Checkpoint id to the tasks that started in its namespace since the checkpoint before it."""
    within: dict[str, str] = field(default_factory=dict)
    """Checkpoint id of a sub-graph to the checkpoint that its caller was at."""
    _at: dict[tuple[str, ...], str] = field(default_factory=dict)
    _started: dict[tuple[str, ...], list[str]] = field(default_factory=dict)

    def begin(self) -> None:
        """A new run begins: what had started before it is not going any more."""
        self.going.clear()
        self._started.clear()
        self._at.clear()

    def caller(self, ns: tuple[str, ...]) -> tuple[str, ...]:
        """The nearest namespace around a stream's that has shown a checkpoint. A number at the
        end counts the sub-graphs that one node calls: it is no level of its own."""
        while ns[-1].isdigit():
            ns = ns[:-1]
        return next(ns[:n] for n in range(len(ns) - 1, -1, -1) if ns[:n] in self._at)


@dataclass
class Run:
    """One scenario being run: gives configs, runs graphs, remembers what it saw.

    `durability` is LangGraph's; None where a call must not pass one.
    """

    name: str
    saver: BaseCheckpointSaver[Any]
    durability: str = "async"
    dead: bool = False
    """The scenario's process has been killed before: `to_death` does nothing."""
    graphs: dict[str, Pregel[Any, Any, Any, Any]] = field(default_factory=dict)
    """Thread id to the graph that ran it."""
    seen: dict[str, Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for method in ("put_writes", "aput_writes"):
            setattr(self.saver, method, self._overhear(getattr(type(self.saver), method)))

    def _overhear(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A `put_writes` that notes the destinations among a task's live writes."""

        def put(config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str,
                task_path: str = "") -> Any:  # fmt: skip
            seen = self.seen.get(str(config["configurable"]["thread_id"]))
            if seen is not None:
                where = [d for c, v in writes if (d := _destination(c, v))]
                if task_path.startswith("~__pregel_push, ~") and "handler" not in task_path:
                    seen.calls.add(task_id)
                if not all(c in CONTROL for c, _ in writes):
                    seen.finished[task_id] = None
                    if seen.wrote.setdefault(task_id, where) != where:
                        seen.turned.add(task_id)
            return method(self.saver, config, writes, task_id, task_path)

        return put

    def thread(self, suffix: str = "", **configurable: Any) -> RunnableConfig:
        """A config of this scenario's thread, or of another one of it."""
        thread_id = f"{self.name}-{suffix}" if suffix else self.name
        return {"configurable": {"thread_id": thread_id, **configurable}}

    def watch(self, graph: Any, config: RunnableConfig) -> Seen:
        thread_id = config["configurable"]["thread_id"]
        self.graphs[thread_id] = graph
        return self.seen.setdefault(thread_id, Seen())

    def go(self, graph: Any, input: Any, config: RunnableConfig, *,
           fails: type[Exception] | None = None, may: tuple[type[Exception], ...] = (),
           **options: Any) -> None:  # fmt: skip
        """Run the graph until it stops. `fails`: the exception that must end it; `may`: those
        that can."""
        seen = self.watch(graph, config)
        seen.begin()
        graph.checkpointer = self.saver
        try:
            for part in graph.stream(input, config, **self._options(options)):
                _note(seen, part)
        except Exception as error:
            if not isinstance(error, may if fails is None else fails):
                raise
        else:
            assert fails is None, f"{self.name}: {fails} was not raised"

    async def ago(self, graph: Any, input: Any, config: RunnableConfig, **options: Any) -> None:
        seen = self.watch(graph, config)
        seen.begin()
        graph.checkpointer = self.saver
        async for part in graph.astream(input, config, **self._options(options)):
            _note(seen, part)

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        return {
            "stream_mode": ["tasks", "checkpoints"],
            "subgraphs": True,
            "durability": self.durability,
            **options,
        }

    def update(self, graph: Any, config: RunnableConfig, values: Any, as_node: str | None = None
               ) -> RunnableConfig:  # fmt: skip
        self.watch(graph, config)
        graph.checkpointer = self.saver
        return graph.update_state(config, values, as_node=as_node)

    def history(self, graph: Any, config: RunnableConfig) -> list[Any]:
        """The thread's snapshots, oldest first."""
        return list(graph.get_state_history(config))[::-1]

    def at(self, graph: Any, config: RunnableConfig, *due: str, nth: int = 0) -> RunnableConfig:
        """The config of the n-th checkpoint (oldest first) at which exactly these nodes are due."""
        due_there = [s for s in self.history(graph, config) if sorted(s.next) == sorted(due)]
        return due_there[nth].config

    def questions(self, graph: Any, config: RunnableConfig) -> list[Any]:
        """The open interrupts of a thread."""
        return list(graph.get_state(config).interrupts)

    def to_death(self, graph: Any, input: Any, config: RunnableConfig, **options: Any) -> None:
        """Run a graph that kills its process. In the process that goes on, nothing happens."""
        self.watch(graph, config)
        if not self.dead:
            self.go(graph, input, config, **options)
            raise AssertionError(f"{self.name}: survived")


def _destination(channel: str, value: Any) -> str | None:
    if channel.startswith("branch:to:"):
        return channel.removeprefix("branch:to:")
    if channel.startswith("join:"):
        return channel.rpartition(":")[2]
    return value.node if channel == TASKS else None


def _note(seen: Seen, part: Any) -> None:
    ns, mode, event = part
    if mode == "checkpoints":
        for task in [t for t, where in seen.going.items() if where == ns]:
            del seen.going[task]
            seen.finished[task] = None
        checkpoint_id = event["config"]["configurable"]["checkpoint_id"]
        seen.made.setdefault(checkpoint_id, list(seen.finished))
        seen._at[ns] = checkpoint_id
        if ns:
            seen.within.setdefault(checkpoint_id, seen._at[seen.caller(ns)])
        seen.lately.setdefault(checkpoint_id, seen._started.pop(ns, []))
    elif "result" not in event:
        seen.going[event["id"]] = ns
        seen.names[event["id"]] = event["name"]
        seen._started.setdefault(ns, []).append(event["id"])
    else:
        if event["id"] not in seen.names:  # an error handler, which is not seen to start
            seen.names[event["id"]] = event["name"]
            seen._started.setdefault(ns, []).append(event["id"])
        seen.going.pop(event["id"], None)
        if not event["error"] and not event["interrupts"]:
            seen.finished[event["id"]] = None
