"""What a replay would do, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from retrograph.cli.draw.words import fields, header
from retrograph.cli.paint import Column, Line, Span, Style, table
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


def plan_lines(session: Session, thread: Thread, plan: Plan, title: str) -> Iterator[Line]:
    """The plan for people. `title`: replay, resume."""
    out = session.out
    history = thread.history
    step = history.step(history.find(plan.key.ns, plan.key.id))
    name = escape(written(plan.key, plan.key.id[-short_length(history.ids) :]))
    said = "" if step is None else f" · step {step}"
    yield header(session, name, escape(f"{said} · {title}"))
    yield []
    heads = [Column("node", flexible=True), Column("", flexible=True), Column("recorded", True)]
    yield from table(heads, [_node(node) for node in plan.nodes], out.page)
    yield []
    yield from fields(list(_facts(session, plan)))
    for warning in plan.warnings:
        yield [Span("! " if out.ascii else "▲ ", "waits"), Span(escape(warning), "waits")]


def _node(node: NodePlan) -> list[Line]:
    words, style = _DOES[node.policy]
    does = [Span(words, style)]
    if node.side_effects:
        does.append(Span("  side effects", "waits"))
    count = [Span(str(node.recorded) if node.recorded else "", "dim")]
    return [[Span(escape(named(node.key)))], does, count]


def _facts(session: Session, plan: Plan) -> Iterator[tuple[str, Line]]:
    signs = ASCII if session.out.ascii else UNICODE
    due = names(plan.due, signs)
    yield "first", [Span(due or "nothing is due", "strong" if due else "waits")]
    launch = plan.launch
    versions = f"langgraph {plan.versions.get('langgraph')} · Python {plan.versions.get('python')}"
    where = f"{launch.target.shown} · {versions} ({launch.python_from})"
    yield "graph", [Span(escape(where), "dim")]
    config = session.redactor.metadata(dict(plan.config.get("configurable", {})))
    if config:
        shown = ", ".join(f"{escape(str(k))}={escape(_short(v))}" for k, v in config.items())
        yield "config", [Span(shown, "dim")]
    if plan.context is not None:
        shown = escape(_short(session.redactor.value(plan.context)))
        yield "context", [Span(shown, "dim")]
    if plan.loaded.store is not None:
        said = f"{plan.loaded.store}: read, and written nowhere"
        yield "store", [Span(escape(said), "dim")]
    where = "goes on in it" if plan.closure is None else "in a new one; the source is not touched"
    yield "sandbox", [Span(where, "dim")]


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
