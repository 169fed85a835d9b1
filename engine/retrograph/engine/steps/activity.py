"""What happened at one checkpoint: its due tasks, and what the stored writes say of each.

The writes of a checkpoint are what its *next* super-step did: a finished task has at least one
output write, a paused one only an interrupt, a failed one an error (`read_task_statuses` in
`langgraph/pregel/_task_status.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from xxhash import xxh3_128_hexdigest

from retrograph.engine import ids as checkpoint_ids
from retrograph.engine.model import NULL_TASK, Envelope, Typed, WriteRow
from retrograph.engine.serde import send_node
from retrograph.engine.steps.due import (
    OLD_FORMAT,
    START,
    TASKS,
    Barrier,
    Due,
    Learned,
    due_tasks,
    named_destination,
)
from retrograph.engine.steps.joins import corrupt_joins, repair_text
from retrograph.engine.steps.taskids import (
    EDIT,
    Call,
    TaskPath,
    edit_ids,
    handler_id,
    match_ids,
    parse_path,
    task_id,
)
from retrograph.engine.values import Obj

CONTROL = frozenset(
    ("__error__", "__error_source_node__", "__interrupt__", "__resume__", "__scheduled__")
)
"""Writes that say what became of a task rather than what it produced."""
_MARKERS = frozenset(("__no_writes__", "__return__", "__pregel_push"))

Decode = Callable[[Typed], Any]


@dataclass(frozen=True, slots=True)
class Question:
    """An interrupt that a node raised, and whether it has been answered."""

    id: str | None
    node: str | None
    value: Any
    """Inert."""
    answered: bool


@dataclass(slots=True)
class Act:
    """One task that left writes at a checkpoint."""

    task_id: str
    path: str
    kind: TaskPath
    node: str | None
    """`None` where the store does not tell whose it is; a call's is its caller."""
    send: int | None
    rows: list[WriteRow]
    finished: bool

    @property
    def ran_as_task(self) -> bool:
        """Whether it was a node of the graph: not a function called by one, and not an edit,
        unless that was made in place of a due node."""
        return self.kind.kind != "call" and (self.kind.kind != "update" or self.node is not None)


@dataclass(frozen=True, slots=True)
class Activity:
    """A checkpoint's due tasks and the tasks that left writes there."""

    envelope: Envelope
    due: tuple[Due, ...]
    acts: tuple[Act, ...]
    repaired: str | None
    exact: bool
    """Whether `due` is certain: always for formats 3 and 4."""
    ran_on: bool = False
    """Whether the run is known to have gone on from here, so that everything due has finished,
    even where that left no writes (`durability="exit"`)."""

    @property
    def asks(self) -> bool:
        """Whether a question seems to be open."""
        return any(
            row.channel == "__interrupt__"
            for act in self.acts
            if not act.finished
            for row in act.rows
        )

    def acts_of_due(self) -> dict[tuple[str | None, int | None], Act]:
        """The tasks of the graph that left writes, by node and Send."""
        found: dict[tuple[str | None, int | None], Act] = {}
        for act in self.acts:
            if act.ran_as_task:
                found.setdefault((act.node, act.send), act)
        return found


def step_number(envelope: Envelope) -> int | None:
    """The step of a checkpoint, from its metadata, else from its id."""
    step = envelope.step
    return step if step is not None else checkpoint_ids.step_of(envelope.id)


def observe(
    envelope: Envelope,
    rows: Sequence[WriteRow],
    learned: Learned,
    *,
    arrived: Callable[[Barrier], Collection[str] | None],
    ran_on: bool,
    owners: Mapping[str, str] = MappingProxyType({}),
) -> Activity:
    """Read one checkpoint.

    `arrived` gives the names that had truly reached a join by this checkpoint (asked only when
    the stored ones are suspicious and the store is too old to settle it). `ran_on` tells whether
    a child was made by running on from here, so that everything due has left its writes.
    `owners` are nodes by task id, as far as the names of sub-graph namespaces tell them.
    """
    acts, given = _grouped(rows), _given(rows)
    if envelope.v == 0:
        _attribute(envelope, acts, [], learned, owners, given)
        return Activity(envelope, tuple(_unforeseen((), acts)), tuple(acts), None, False, ran_on)
    _learn_entry(envelope, acts, learned)
    wrong = corrupt_joins(envelope, {act.kind.node for act in acts}, arrived)
    due = due_tasks(envelope, learned, ignore=[gate.channel for gate in wrong])
    _attribute(envelope, acts, due, learned, owners, given)
    exact = envelope.v >= OLD_FORMAT or ran_on or not _unknown_successors(envelope, learned)
    if not exact:
        due += _unforeseen(due, acts)
    exact = exact and not _nameless_entry(due, acts)
    repaired = "; ".join(repair_text(gate) for gate in wrong) or None
    return Activity(envelope, tuple(due), tuple(acts), repaired, exact, ran_on)


def computed_id(envelope: Envelope, due: Due, learned: Learned) -> str | None:
    """The id that the due task would have, for one that has not run."""
    step = step_number(envelope)
    if step is None:
        return None
    return task_id(envelope.id, envelope.ns, step + 1, envelope.v, _call(due, learned))


def destinations(act: Act, v: int, learned: Learned) -> Iterator[tuple[str, bool]]:
    """(node, whether by a Send) of everywhere that a task's stored writes lead, in order; each
    Send counts, an edge once."""
    told: set[str] = set()
    for row in act.rows:
        if row.channel == TASKS:
            yield send_node(row.type, row.head or b"") or "?", True
            continue
        named = named_destination(row.channel, v)
        nodes = sorted(learned.by_channel.get(row.channel, ())) if named is None else [named]
        for node in nodes:
            if row.channel != START and node not in told:
                told.add(node)
                yield node, False


def questions(activity: Activity, decode: Decode) -> Iterator[tuple[Act, Question]]:
    """Interrupts in the writes. A finished task's have been answered."""
    for act in activity.acts:
        answered = act.finished or activity.ran_on
        for row in act.rows:
            if row.channel != "__interrupt__" or row.head is None:
                continue
            value = decode(Typed(row.type, row.head))
            for item in value if isinstance(value, list | tuple) else [value]:
                yield act, _question(item, act, answered)


def errors(acts: Iterable[Act], decode: Decode) -> Iterator[tuple[Act, str]]:
    """Errors in the writes: LangGraph stores the exception's repr, without a traceback."""
    for act in acts:
        for row in act.rows:
            if row.channel == "__error__" and row.head is not None:
                yield act, _error_text(decode(Typed(row.type, row.head)))


def _question(item: Any, act: Act, answered: bool) -> Question:
    known = _fields(item)
    if "value" not in known:
        return Question(None, act.node, item, answered)
    id_ = known.get("id", known.get("interrupt_id"))
    if id_ is None and isinstance(ns := known.get("ns"), list | tuple):
        # Before 0.6 the id was a property: a hash of the namespace.
        id_ = xxh3_128_hexdigest("|".join(map(str, ns)).encode("utf-8", "surrogatepass"))
    return Question(id_ if isinstance(id_, str) else None, act.node, known["value"], answered)


def _error_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    # LangGraph.js stores {"name", "message"}.
    known = _fields(value)
    name, message = known.get("name"), known.get("message")
    if isinstance(message, str):
        return f"{name}: {message}" if isinstance(name, str) else message
    return repr(value)


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Obj):
        return value.fields or {}
    return value if isinstance(value, dict) else {}


def _grouped(rows: Sequence[WriteRow]) -> list[Act]:
    """Rows by task, in the order of the rows."""
    acts: dict[str, Act] = {}
    for row in map(WriteRow._make, rows):
        if row.task_id == NULL_TASK:
            continue
        act = acts.get(row.task_id)
        if act is None:
            path = parse_path(row.task_path)
            act = Act(row.task_id, row.task_path, path, path.node, path.send, [], False)
            acts[row.task_id] = act
        elif act.kind is EDIT and row.task_path != act.path:
            # An edit in place of a task that has asked or failed: the task's path names the node.
            act.kind = parse_path(row.task_path)
            act.path, act.node, act.send = row.task_path, act.kind.node, act.kind.send
        act.rows.append(row)
        if row.channel not in CONTROL:
            act.finished = True
    return list(acts.values())


def _given(rows: Sequence[WriteRow]) -> list[str]:
    """Nodes of the Sends that came with a `Command` as input, in order: they stand in the place
    of those that were pending."""
    return [
        send_node(row.type, row.head or b"") or "?"
        for row in map(WriteRow._make, rows)
        if row.task_id == NULL_TASK and row.channel == TASKS
    ]


def _learn_entry(envelope: Envelope, acts: Sequence[Act], learned: Learned) -> None:
    """The functional API's first node is named by the entrypoint, not `__start__`."""
    if START in envelope.present and not learned.entry:
        entry = {act.kind.node for act in acts if act.kind.kind in ("pull", "call")}
        learned.by_channel.setdefault(START, set()).update(name for name in entry if name)


def _nameless_entry(due: Sequence[Due], acts: Sequence[Act]) -> bool:
    """Whether the input went to an entrypoint whose name nothing tells: something ran here, and
    it was not `__start__`."""
    ran = [act for act in acts if act.kind.kind != "update"]
    return (
        [task.node for task in due] == [START]
        and bool(ran)
        and START not in {act.node for act in ran}
    )


def _attribute(
    envelope: Envelope,
    acts: list[Act],
    due: Sequence[Due],
    learned: Learned,
    owners: Mapping[str, str],
    given: Sequence[str],
) -> None:
    """Find the node of each task that its path does not name."""
    for act in acts:
        if act.kind.kind == "send":
            act.node = _sent(envelope, act, given)
        elif act.kind.kind == "handler":
            act.node = _handler(envelope, act, acts, learned)
    # An edit made in place of a due node carries that node's task id.
    nameless = [act for act in acts if act.kind.kind in ("unknown", "update")]
    if not nameless:
        return
    edits = edit_ids(envelope.id, len(nameless))
    for act in nameless:
        if act.kind.kind == "unknown" and act.task_id in edits:
            act.kind = EDIT
    calls = [_call(task, learned) for task in due]
    calls += [Call(node, (), index) for index, node in enumerate(given)]
    planned = {task.node for task in due}
    # A `Command(goto=…)` given with the input makes tasks that were not due.
    calls += [
        Call(node, learned.trigger_sets(node, ()))
        for node in sorted(learned.triggers)
        if node not in planned
    ]
    step = step_number(envelope)
    matched = match_ids(
        [act.task_id for act in nameless],
        calls,
        checkpoint_id=envelope.id,
        ns=envelope.ns,
        step=None if step is None else step + 1,
    )
    taken = set()
    for act in nameless:
        call = matched.get(act.task_id)
        if call is not None:
            act.node, act.send = call.node, call.send
        elif act.task_id in owners:
            act.node = owners[act.task_id]
        elif act.kind.kind == "unknown":
            # Until 0.3 a finished node wrote its own name into a channel of that name.
            own = [r.channel for r in act.rows if r.channel in learned.triggers]
            act.node = own[-1] if own else None
        taken.add((act.node, act.send))
    left = [act for act in nameless if act.node is None and act.task_id not in edits]
    for act in left:
        if act.kind.kind == "unknown":
            act.node = _handler(envelope, act, acts, learned)
    left = [act for act in left if act.node is None]
    # The id of `__start__` can always be computed, so what was not matched is not its task.
    open_ = [t for t in due if (t.node, t.send) not in taken and t.node != START]
    if len(left) == len(open_) == 1:
        left[0].node, left[0].send = open_[0].node, open_[0].send


def _unforeseen(due: Sequence[Due], acts: Sequence[Act]) -> list[Due]:
    """Tasks that left writes although nothing stored said that they were due."""
    known = {(task.node, task.send) for task in due}
    return [
        Due(act.node, act.send, ())
        for act in acts
        if act.node is not None and act.ran_as_task and (act.node, act.send) not in known
    ]


def _call(due: Due, learned: Learned) -> Call:
    if due.send is not None:
        return Call(due.node, (), due.send)
    return Call(due.node, learned.trigger_sets(due.node, due.triggers))


def _sent(envelope: Envelope, act: Act, given: Sequence[str]) -> str | None:
    """The node of a task that answers a Send."""
    index = act.send or 0
    nodes = {sends[index] for sends in (envelope.sends, given) if index < len(sends)}
    step = step_number(envelope)
    if len(nodes) > 1 and step is not None:
        at = (envelope.id, envelope.ns, step + 1, envelope.v)
        nodes = {node for node in nodes if task_id(*at, Call(node, (), index)) == act.task_id}
    return nodes.pop() if len(nodes) == 1 else None


def _handler(envelope: Envelope, act: Act, acts: list[Act], learned: Learned) -> str | None:
    """The node that handled an error: its task's id hashes its name and the failed task's id."""
    step = step_number(envelope)
    if step is None:
        return None
    for failed in acts:
        if failed.node is None or not any(row.channel == "__error__" for row in failed.rows):
            continue
        names = (f"__error_handler__{failed.node}", "__default_error_handler__")
        for name in dict.fromkeys((*names, *sorted(learned.triggers))):
            at = (envelope.id, envelope.ns, step + 1)
            if handler_id(*at, name, failed.node, failed.task_id) == act.task_id:
                return name
    return None


def _unknown_successors(envelope: Envelope, learned: Learned) -> bool:
    """Format 1 and 2: whether a node has just finished whose static edges never showed.

    A finished node wrote its own name into a channel of its name; which nodes that channel
    triggers is known only from checkpoints in which they have run.
    """
    return any(
        channel in learned.triggers or envelope.seen.get(channel) is not None
        for channel in envelope.present
        if channel not in learned.by_channel and channel != START
    )
