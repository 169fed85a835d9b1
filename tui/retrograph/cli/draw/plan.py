"""What a replay would do, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from retrograph.cli.draw.words import fields, header
from retrograph.cli.paint import Column, Line, Span, Style, fit, table
from retrograph.engine.replay.asked import named
from retrograph.engine.text import cut, escape
from retrograph.engine.threads.refs import short_length, written
from retrograph.engine.tree.labels import ASCII, UNICODE, names
from retrograph.engine.values import Obj, Value, children

if TYPE_CHECKING:
    from retrograph.cli.session import Session
    from retrograph.engine.replay.plan import NodePlan, Plan
    from retrograph.engine.thread import Thread

_DOES: dict[str, tuple[str, Style]] = {
    "live": ("runs", ""),
    "recorded": ("gives what is recorded", "dim"),
    "stub": ("gives what you say", "accent"),
    "pause": ("is waited before", "waits"),
    "finished": ("has finished, and stays", "dim"),
}
_GROUPS: dict[str, tuple[str, Style]] = {
    "live": ("may run", ""),
    "recorded": ("recorded", "dim"),
    "stub": ("stubbed", "accent"),
    "pause": ("waits", "waits"),
    "finished": ("finished", "dim"),
}
"""How nodes of one policy are listed together."""

_KNOWN = ("langchain", "langgraph")
"""Packages whose classes are always made of stored values."""

Fact = tuple[str, Line]


def plan_lines(session: Session, thread: Thread, plan: Plan) -> Iterator[Line]:
    """The plan for people, node by node."""
    out = session.out
    yield plan_header(session, thread, plan, "plan")
    yield []
    heads = [Column("node", flexible=True), Column("", flexible=True), Column("recorded", True)]
    yield from table(heads, [_node(node) for node in plan.nodes], out.page)
    yield []
    yield from _fitted(out.page, fields([*_due(session, plan), *_facts(session, thread, plan)]))
    yield from _warnings(session, plan)


def question_lines(
    session: Session, thread: Thread, plan: Plan, title: str | None, facts: Sequence[Fact] = ()
) -> Iterator[Line]:
    """The plan in short, for who is about to be asked. `title`: what it is called in the header,
    which is left out without one; `facts`: what more there is to it."""
    if title is not None:
        yield plan_header(session, thread, plan, title)
        yield []
    groups = list(_groups(plan))
    page = session.out.page
    yield from _fitted(
        page, fields([*facts, *_due(session, plan), *groups, *_facts(session, thread, plan)])
    )
    yield from _warnings(session, plan)
    yield []


def plan_header(session: Session, thread: Thread, plan: Plan, title: str) -> Line:
    """`travel@ce6f5b · step 1 · replay`, and what was opened."""
    history = thread.history
    step = history.step(history.find(plan.key.ns, plan.key.id))
    name = escape(written(plan.key, plan.key.id[-short_length(history.ids) :]))
    said = "" if step is None else f" · step {step}"
    return header(session, name, escape(f"{said} · {title}"), thread)


def _fitted(limit: int | None, lines: Iterable[Line]) -> Iterator[Line]:
    return (fit(line, limit) for line in lines)


def _warnings(session: Session, plan: Plan) -> Iterator[Line]:
    for warning in plan.warnings:
        sign = "! " if session.out.ascii else "▲ "
        yield [Span(sign, "waits"), Span(escape(warning), "waits")]


def _node(node: NodePlan) -> list[Line]:
    words, style = _DOES[node.policy]
    does = [Span(words, style)]
    if node.side_effects:
        does.append(Span("  side effects", "waits"))
    count = [Span(str(node.recorded) if node.recorded else "", "dim")]
    return [[Span(escape(named(node.key)))], does, count]


def _groups(plan: Plan) -> Iterator[Fact]:
    for policy, (words, style) in _GROUPS.items():
        found = [_called(node) for node in plan.nodes if node.policy == policy]
        if found:
            yield words, [Span(", ".join(found), style)]


def _called(node: NodePlan) -> str:
    return escape(named(node.key)) + (" (side effects)" if node.side_effects else "")


def _due(session: Session, plan: Plan) -> Iterator[Fact]:
    due = names(plan.due, ASCII if session.out.ascii else UNICODE)
    yield "due now", [Span(due or "nothing", "strong" if due else "waits")]


def _facts(session: Session, thread: Thread, plan: Plan) -> Iterator[Fact]:
    launch = plan.launch
    versions = f"langgraph {plan.versions.get('langgraph')}"
    yield "graph", [Span(escape(f"{launch.target.shown} · {versions}"), "dim")]
    python = f"{plan.versions.get('python')}, {launch.python_from}"
    yield "Python", [Span(escape(python), "dim")]
    config = session.redactor.metadata(dict(plan.config.get("configurable", {})))
    if config:
        shown = ", ".join(f"{escape(str(k))}={escape(_short(v))}" for k, v in config.items())
        yield "config", [Span(shown, "dim")]
    if plan.context is not None:
        shown = escape(_short(session.redactor.value(plan.context)))
        yield "context", [Span(shown, "dim")]
    made = classes(thread.snapshot(plan.key.ns, plan.key.id).values)
    own = [name for name in made if not name.startswith(_KNOWN)]
    if own:
        yield "classes", [Span(escape(", ".join(own)), "dim")]
    if plan.loaded.store is not None:
        yield "store", [Span(escape(_store(plan.loaded.store)), "dim")]
    where = "it goes on in this one" if plan.closure is None else "a new one is made"
    yield "sandbox", [Span(where, "dim")]


def _store(name: str) -> str:
    if name == "empty":
        return "an empty one, as LangGraph's server gives it"
    return f"{name}: read; what is written stays in the run"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return cut(text, 60)


def plan_shape(session: Session, thread: Thread, plan: Plan) -> dict[str, Any]:
    """`plan` of the JSON contract."""
    redactor = session.redactor
    return {
        "thread_id": plan.key.thread_id,
        "ns": plan.key.ns,
        "from": plan.key.id,
        "due": list(plan.due),
        "nodes": [
            {
                "node": node.key[1],
                "ns": node.key[0],
                "policy": node.policy,
                "recorded": node.recorded,
                "side_effects": node.side_effects,
            }
            for node in plan.nodes
        ],
        "graph": plan.launch.target.shown,
        "langgraph": plan.versions.get("langgraph"),
        "python": plan.launch.python,
        "classes": classes(thread.snapshot(plan.key.ns, plan.key.id).values),
        "config": redactor.metadata(dict(plan.config)),
        "context": redactor.value(plan.context),
        "store": plan.loaded.store,
        "warnings": list(plan.warnings),
    }


def classes(values: Value) -> list[str]:
    """The classes that values are of: those that the graph's process will make."""
    found: set[str] = set()
    todo: list[Value] = [values]
    while todo:
        value = todo.pop()
        if isinstance(value, Obj):
            found.add(f"{value.module}.{value.name}")
        todo += [inner for _, inner in children(value)]
    return sorted(found)
