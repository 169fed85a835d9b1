"""The zoo's calls of graphs, one by one, so that each can be made again by somebody else.

    python -m zoo.calls OUT [--only NAME]…

run by a user's interpreter, with any LangGraph, writes for each scenario OUT/NAME/: `zoo.db`, saved
synchronously; `CALL.db` for each call, the store as it was just before it; and `calls.jsonl`, what
was seen, in order:

- `call`: `call`, `thread`, `turn` (which of the thread's calls), `how` (none, resume, input,
  command), `value` (of an answer or input, where it is JSON), `at` (the checkpoint that it began
  from), `given` (that was asked for by id), `options`, `limit` (of recursion);
- `put`: `call`, `thread`, `ns`, `id` of a checkpoint;
- `start`: `call`, `thread`, `node`, `ns`, `step` (of the root's task) of a node that began;
- `end`: `call`, `error` (the class of an exception that ended it, or null);
- `absent`: `why`, what this LangGraph lacks for the scenario.

`graph` is the factory that a host loads: the graph of such a call, with all around it (what its
nodes have counted, what is in its cache) as it was just before.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import importlib
import json
import os
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from zoo.graphs import chance
from zoo.run import Run
from zoo.table import SCENARIOS, Scenario

MOST = 200
"""Calls of a scenario. Old LangGraph shows answered questions as open, and asks for ever."""
RAN = "ZOO_RAN"
"""The environment variable that names a file: each function of a node that a host calls leaves a
line in it."""


class Saver(SqliteSaver):
    """SqliteSaver, and the same under asyncio."""

    async def aget_tuple(self, *arguments: Any) -> Any:
        return self.get_tuple(*arguments)

    async def aput(self, *arguments: Any) -> Any:
        return self.put(*arguments)

    async def aput_writes(self, *arguments: Any) -> Any:
        return self.put_writes(*arguments)


class Reached(BaseException):
    """The wanted call is about to be made."""


class Calls(Run):
    """A run of a scenario that notes its calls, or stops before one of them."""

    def __init__(self, scenario: Scenario, saver: Any, wanted: Any = None, dead: bool = False
                 ) -> None:  # fmt: skip
        super().__init__(scenario.name, saver, "sync", dead=dead)
        self.wanted = wanted
        """(thread, which of its calls)."""
        self.count = 0
        self.turns: Counter[str] = Counter()
        self.current: Any = None

    def go(self, graph: Any, input: Any, config: Any, *, fails: Any = None, may: Any = (),
           **options: Any) -> None:  # fmt: skip
        callbacks = self._begin(graph, input, config, options)
        error: BaseException | None = None
        try:
            for _ in graph.stream(input, {**config, "callbacks": callbacks}, **self._with(options)):
                pass
        except Exception as raised:
            error = raised
            if not isinstance(raised, may if fails is None else fails):
                raise
        finally:
            self._end(error)

    async def ago(self, graph: Any, input: Any, config: Any, **options: Any) -> None:
        callbacks = self._begin(graph, input, config, options)
        stated = self._with(options)
        async for _ in graph.astream(input, {**config, "callbacks": callbacks}, **stated):
            pass
        self._end(None)

    def _begin(self, graph: Any, input: Any, config: Any, options: Any) -> list[Any]:
        self.watch(graph, config)
        thread = str(config["configurable"]["thread_id"])
        if (thread, self.turns[thread]) == self.wanted:
            self.current = graph
            raise Reached
        self.turns[thread] += 1
        self.count += 1
        if self.count > MOST:
            raise RecursionError("it goes on for ever")
        graph.checkpointer = self.saver
        return self.began(input, config, options)

    def began(self, input: Any, config: Any, options: Any) -> list[Any]:
        """The callbacks of a call that begins."""
        return []

    def _end(self, error: BaseException | None) -> None:
        """A call has ended."""

    def _with(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"stream_mode": "values", "durability": self.durability, **options}


class Noted(Calls):
    """One that writes down what it sees."""

    def __init__(self, scenario: Scenario, saver: Any, out: Path, dead: bool = False) -> None:
        super().__init__(scenario, saver, dead=dead)
        self.going = False
        self._out = out
        saver.put = self._noting_put(type(saver).put)

    def note(self, **what: Any) -> None:
        with (self._out / "calls.jsonl").open("a") as file:
            file.write(json.dumps(what) + "\n")

    def _noting_put(self, method: Any) -> Any:
        def put(config: Any, checkpoint: Any, *more: Any) -> Any:
            where = config["configurable"]
            if self.going:  # not of an update in between
                self.note(**{"is": "put"}, call=self.count - 1, thread=str(where["thread_id"]),
                          ns=where.get("checkpoint_ns", ""), id=checkpoint["id"])  # fmt: skip
            return method(self.saver, config, checkpoint, *more)

        return put

    def began(self, input: Any, config: Any, options: Any) -> list[Any]:
        number = self.count - 1
        thread = str(config["configurable"]["thread_id"])
        given = config["configurable"].get("checkpoint_id")
        with closing(sqlite3.connect(self._out / "zoo.db")) as db:
            with closing(sqlite3.connect(self._out / f"{number}.db")) as copy:
                db.backup(copy)
            query = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? "
            try:
                (head,) = db.execute(query + "AND checkpoint_ns = ''", (thread,)).fetchone()
            except sqlite3.OperationalError:  # the first call makes the tables
                head = None
        how, value = _how(input)
        self.note(
            **{"is": "call"},
            call=number,
            thread=thread,
            turn=self.turns[thread] - 1,
            how=how,
            value=value,
            at=given or head,
            given=given,
            options=sorted(options),
            limit=config.get("recursion_limit"),
        )
        self.going = True
        return [_Starts(self, number, thread)]

    def _end(self, error: BaseException | None) -> None:
        self.going = False
        name = None if error is None else type(error).__name__
        self.note(**{"is": "end"}, call=self.count - 1, error=name)


class _Starts(BaseCallbackHandler):
    """Notes every task that starts."""

    run_inline = True

    def __init__(self, noted: Noted, call: int, thread: str) -> None:
        self._noted, self._call, self._thread = noted, call, thread
        self._steps: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
        metadata = more.get("metadata") or {}
        node = metadata.get("langgraph_node")
        if node is None or more.get("name") != node or node == "__start__":
            return
        where = str(metadata.get("langgraph_checkpoint_ns", ""))
        outer = where.split("|")[0]
        with self._lock:
            if "|" not in where:
                self._steps[outer] = self._steps[outer.split(":")[0]] = metadata["langgraph_step"]
            if where in self._seen and "retry" not in self._noted.name:
                return  # something of the node's own name inside it
            self._seen.add(where)
            step = self._steps.get(outer)
        ns = "|".join(where.split("|")[:-1])
        self._noted.note(**{"is": "start"}, call=self._call, thread=self._thread, node=node, ns=ns,
                         step=step)  # fmt: skip


def _how(input: Any) -> tuple[str, Any]:
    if input is None:
        return "none", None
    if isinstance(input, Command):
        plain = not (input.goto or input.update)
        return ("resume", input.resume) if plain else ("command", None)
    try:
        json.dumps(input)
    except (TypeError, ValueError):
        return "command", None
    return "input", input


def _play(run: Calls, scenario: Scenario) -> None:
    """Run a scenario's function to its end, or until the wanted call."""
    function = getattr(importlib.import_module(f"zoo.graphs.{scenario.module}"), scenario.name)
    try:
        if scenario.asynchronous:
            asyncio.run(function(run))
        else:
            function(run)
    except Reached:
        pass


def graph(config: dict[str, Any]) -> Any:
    """The graph of call `turn` of `thread` of `scenario`, all in `configurable`."""
    stated = config["configurable"]
    scenario = _scenario(stated["scenario"])
    if scenario.name == "chance":  # its threads have nothing in common
        chance.SEEDS[:] = [int(stated["thread"].rpartition("-")[2])]
    with Saver.from_conn_string(":memory:") as saver:
        run = Calls(scenario, saver, wanted=(stated["thread"], stated["turn"]))
        _play(run, scenario)
    run.current.checkpointer = None
    if RAN in os.environ:
        noted = Path(os.environ[RAN])
        noted.write_text("")
        for namespace, one in [("", run.current), *run.current.get_subgraphs(recurse=True)]:
            _watch(one, namespace, noted)
    return run.current


def _watch(graph: Any, ns: str, file: Path) -> None:
    """Have every function of a node leave a line when it is called."""

    def leaving(function: Any, node: str) -> Any:
        @functools.wraps(function)  # a cache knows a node by the name of its function
        def called(*args: Any, **more: Any) -> Any:
            with file.open("a") as log:
                log.write(json.dumps([ns, node]) + "\n")
            return function(*args, **more)

        return called

    for name, node in graph.nodes.items():
        bound = node.bound
        if name != "__start__" and not node.subgraphs and hasattr(bound, "afunc"):
            for kind in ("func", "afunc"):
                function = getattr(bound, kind)
                if function is not None:
                    setattr(bound, kind, leaving(function, name))


def _scenario(name: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


def write(scenario: Scenario, out: Path) -> None:
    """Play one scenario into its folder."""
    out.mkdir(parents=True)
    if not scenario.dies:
        _write(scenario, out)
        return
    child = os.fork()
    if child == 0:
        _write(scenario, out)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _write(scenario: Scenario, out: Path) -> None:
    with Saver.from_conn_string(str(out / "zoo.db")) as saver:
        run = Noted(scenario, saver, out)
        try:
            _play(run, scenario)
        except Exception as error:
            run.note(**{"is": "absent"}, why=f"{type(error).__name__}: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="zoo.calls")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    for scenario in SCENARIOS:
        if not arguments.only or scenario.name in arguments.only:
            write(scenario, arguments.out / scenario.name)


if __name__ == "__main__":
    main()
