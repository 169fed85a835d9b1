"""Writes the demo store: `python write.py FOLDER NOW`, where FOLDER holds support_agent.py.

Runs alone, in a process of its own, which the last thread kills: a crash in the middle of a node
is part of the demo. So the exit code of success is `KILLED`.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from fixed import Clock, install  # type: ignore[import-not-found]
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

KILLED = 86
"""The exit code of a process that died where it should."""

LETTER = """\
Good morning, and thank you for the quick answer.

That is the right one. Please ship order-4412 today, if you can: we open the new café on Saturday, \
and without the two machines there is no coffee. The address is the new one, Tullgatan 4, not the \
flat that I ordered to before. Somebody is there from seven in the morning until the builders leave.

Best wishes
Ada"""


class SlowTable(dict[str, float]):
    """Answers only when something else has happened, for ten seconds at most."""

    def __init__(self, table: dict[str, float], happened: Callable[[], bool]) -> None:
        super().__init__(table)
        self._happened = happened

    def __contains__(self, country: object) -> bool:
        end = time.monotonic() + 10
        while not self._happened() and time.monotonic() < end:
            time.sleep(0.005)
        return super().__contains__(country)


class Threads:
    """The shop's conversations, one method each, named and timed as they will be seen."""

    def __init__(
        self, app: Any, store: Path, saver: SqliteSaver, clock: Clock, now: datetime
    ) -> None:
        self.app = app
        self.store = store
        self.graph = app.graph.copy(update={"checkpointer": saver})
        self.clock = clock
        self.now = now
        self.runs = 0
        self.config: dict[str, Any] = {}

    def begin(self, thread_id: str, user: str, **ago: float) -> None:
        self.clock.begin(thread_id, self.now - timedelta(**ago))
        self.config = {
            "configurable": {"thread_id": thread_id, "user_id": user},
            # What a server puts beside each checkpoint: headers too, which no viewer should show.
            "metadata": {
                "release": "1.8.3",
                "authorization": f"Bearer demo-{user}-7f3a9c41d2e8",
            },
            "callbacks": [self.clock],
        }

    def say(self, text: str, number: int = 1) -> None:
        self.go({"messages": [{"role": "user", "content": text, "id": f"human-{number}"}]})

    def go(self, given: Any, at: str | None = None) -> None:
        self.runs += 1
        run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"run {self.runs}"))
        config = self.at(at) if at else self.config
        config = {**config, "metadata": {**config["metadata"], "run_id": run_id}}
        self.graph.invoke(given, config, durability="sync")

    def at(self, checkpoint_id: str) -> dict[str, Any]:
        where = {"checkpoint_ns": "", "checkpoint_id": checkpoint_id}
        return {**self.config, "configurable": {**self.config["configurable"], **where}}

    def checkpoint_before(self, node: str) -> str:
        """The id of the newest checkpoint where `node` is due."""
        for state in self.graph.get_state_history(self.config):
            if node in state.next:
                return str(state.config["configurable"]["checkpoint_id"])
        raise LookupError(f"{node} was never due")

    def a_return(self) -> None:
        self.begin("return-4407", "chiara", days=6, hours=3)
        self.say("I would like to send back order-4407, all of it.")

    def an_express_order(self) -> None:
        self.begin("order-4409", "bram", days=4, hours=1)
        self.say("Please ship order-4409.")

    def a_released_order(self) -> None:
        self.begin("order-4410", "chiara", days=2, hours=7)
        self.say("Hello, please ship order-4410 as soon as possible.")
        self.clock.wait(1_260)
        self.go(Command(resume="yes"))

    def a_question(self) -> None:
        self.begin("order-4411", "ada", hours=26)
        self.say("What was in order-4411 again?")
        self.clock.wait(48)
        self.say("Thank you!", 2)

    def the_main_one(self) -> None:
        """Refused by hand at first; tried again; then sent another way, which goes on."""
        self.begin("order-4412", "ada", hours=2)
        self.say("Hello! What is in order-4412, please?")
        self.clock.wait(95)
        self.say(LETTER, 2)
        self.clock.wait(610)
        self.go(Command(resume="no"))

        priced = self.checkpoint_before("hold")
        self.clock.wait(420)
        self.go(None, priced)
        self.clock.wait(150)
        self.graph.update_state(self.at(priced), {"path": "express"}, as_node="price")
        self.clock.wait(4)
        self.go(None)
        self.clock.wait(300)
        self.say("Wonderful. When will it arrive?", 3)
        self.clock.wait(75)
        self.say("Thank you very much!", 4)

    def a_waiting_order(self) -> None:
        self.begin("order-4413", "bram", minutes=41)
        self.say("Hi, please ship order-4413.")

    def a_failed_order(self) -> None:
        """One check is done when the other fails."""
        self.begin("order-4414", "einar", minutes=23)
        self.app.RISK_BY_COUNTRY = SlowTable(self.app.RISK_BY_COUNTRY, self.stock_is_stored)
        try:
            self.say("Góðan dag, please ship order-4414.")
        except LookupError:
            return
        raise AssertionError("order-4414 should have failed")

    def stock_is_stored(self) -> bool:
        sql = "select 1 from writes where thread_id = 'order-4414' and channel = 'in_stock'"
        with closing(sqlite3.connect(self.store)) as connection:
            return connection.execute(sql).fetchone() is not None

    def a_killed_order(self) -> None:
        """The process ends while the carrier is asked, as when a machine goes down."""
        self.begin("order-4415", "bram", minutes=8)
        self.app.carrier_for = lambda country: os._exit(KILLED)
        self.say("Please ship order-4415.")

    def all(self) -> list[Callable[[], None]]:
        """In this order; the last does not return."""
        return [
            self.a_return,
            self.an_express_order,
            self.a_released_order,
            self.a_question,
            self.the_main_one,
            self.a_waiting_order,
            self.a_failed_order,
            self.a_killed_order,
        ]


def main(folder: Path, now: datetime) -> None:
    sys.path.insert(0, str(folder))
    app = importlib.import_module("support_agent")
    store = folder / "demo.db"
    connection = sqlite3.connect(store, check_same_thread=False)
    # Nothing is lost when the store of a demo is: no need to wait for the disk.
    connection.execute("pragma synchronous = off")
    own = [("support_agent", name) for name in ("Customer", "Item", "Order")]
    saver = SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=own))
    clock = install()
    for write in Threads(app, store, saver, clock, now).all():
        write()


if __name__ == "__main__":
    main(Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2]))
