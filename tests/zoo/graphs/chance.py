"""Graphs and histories drawn by lot: shapes that nobody thought of."""

from __future__ import annotations

import random
from typing import Any

from langgraph.errors import EmptyInputError, GraphRecursionError, InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from zoo.graphs.flow import State
from zoo.run import Run

NAMES = ["a", "b", "c", "d+e", "f g", "h", "i"]
SEEDS = [*range(12), 21, 36, 43, 78, 96, 101, 133, 152]
"""The first ones, and those that once taught something. `python -m zoo --seeds` takes others."""
EXPECTED = (GraphRecursionError, EmptyInputError, InvalidUpdateError, ZeroDivisionError)


def _node(name: str, lot: random.Random, names: list[str]) -> Any:
    """A node that mostly logs; some ask, fail the first time, go by `Command` or send."""
    kind = lot.choice(["log"] * 5 + ["ask", "fail", "goto", "send"])
    goto = lot.choice(names)
    asked_twice = lot.random() < 0.3
    failed: list[str] = []

    def run(state: State) -> Any:
        update: dict[str, Any] = {"log": [name]}
        if kind == "ask":
            update["log"].append(str(interrupt(f"{name}?")))
            if asked_twice:
                update["log"].append(str(interrupt({"again": name})))
        if kind == "fail" and not failed:
            failed.append(name)
            raise ZeroDivisionError(name)
        if kind == "goto":
            return Command(update=update, goto=goto)
        if kind == "send" and state.get("path") != "sent":
            sends = [Send(goto, {"log": [f"sent {i}"], "path": "sent"}) for i in range(2)]
            return Command(update=update, goto=sends)
        return update

    return run


def _router(lot: random.Random, names: list[str]) -> Any:
    """A router that chooses by the length of the log, so that it turns from round to round."""
    choices = [lot.sample([*names, END], lot.choice([1, 1, 2])) for _ in range(3)]
    return lambda state: choices[len(state.get("log", ())) % 3]


def draw(lot: random.Random) -> Any:
    """A graph of three to seven nodes."""
    names = NAMES[: lot.randint(3, len(NAMES))]
    g = StateGraph(State)
    for name in names:
        g.add_node(name, _node(name, lot, names), defer=lot.random() < 0.15)
    for name in lot.sample(names, lot.choice([1, 2])):
        g.add_edge(START, name)
    for name in names:
        if lot.random() < 0.5:
            g.add_edge(name, lot.choice(names))
        if lot.random() < 0.4:
            g.add_conditional_edges(name, _router(lot, names))
    for _ in range(lot.choice([0, 1, 2])):
        several = lot.sample(names, lot.choice([2, 3]))
        g.add_edge(several[:-1], several[-1])
    before = lot.sample(names, 1) if lot.random() < 0.2 else None
    return g.compile(interrupt_before=before)


def live(run: Run, graph: Any, config: Any, lot: random.Random) -> None:
    """Run, answer, resume, edit, replay and go on, by lot."""
    config = {**config, "recursion_limit": lot.randint(3, 9)}
    run.go(graph, {"n": 0, "log": ["in"]}, config, may=EXPECTED)
    for _ in range(5):
        state = graph.get_state(config)
        kind = lot.choice(["on", "on", "answer", "input", "edit", "replay", "again", "goto"])
        old = lot.choice(run.history(graph, config)).config
        old = {**old, "recursion_limit": config["recursion_limit"]}
        if kind == "answer" and state.interrupts:
            one = lot.choice(state.interrupts)
            run.go(graph, Command(resume={one.id: "yes"}), config, may=EXPECTED)
        elif kind == "input":
            run.go(graph, {"n": 1}, config, may=EXPECTED)
        elif kind == "edit":
            node = lot.choice([None, *graph.builder.nodes])
            try:
                run.update(graph, lot.choice([old, config]), {"n": 5}, as_node=node)
            except EXPECTED:
                continue
        elif kind == "replay":
            run.go(graph, None, old, may=EXPECTED)
        elif kind == "again":
            run.go(graph, {"log": ["again"]}, old, may=EXPECTED)
        elif kind == "goto":
            node = lot.choice([*graph.builder.nodes])
            run.go(graph, Command(goto=node), lot.choice([old, config]), may=EXPECTED)
        else:
            run.go(graph, None, config, may=EXPECTED)


def chance(run: Run) -> None:
    for seed in SEEDS:
        lot = random.Random(seed)
        live(run, draw(lot), run.thread(str(seed)), lot)
