"""An edit in memory: hold, then ask the routers that led here again, where they can be trusted.

They can where, on the unedited state, they give the recorded routes again. Then their answer on
the edited state counts, and a flip is the result. Else the recorded routes stand, and it is said
why. No node runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langgraph.types import StateUpdate

from .faults import RequestError, described
from .hold import Hold
from .isolate import Isolation
from .scratch import Scratch, stamped
from .wire import Values

END = "__end__"
_INPUT = "__input__"
_TASKS = "__pregel_tasks"
_PULL = "~__pregel_pull, "

Route = tuple[str, str]
"""(where to, what with): a node, a join's channel and the name that arrived, a Send's node and its
payload's bytes."""


class Producer:
    """A task that led to the checkpoint."""

    def __init__(self, node: str, task_id: str) -> None:
        self.node = node
        self.task_id = task_id
        self.recorded: list[Route] = []
        self.again: list[Route] | None = None

    @property
    def trusted(self) -> bool:
        return self.again is not None and sorted(self.again) == sorted(self.recorded)

    def plain(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "task_id": self.task_id,
            "recorded": [route[0] for route in self.recorded],
            "again": None if self.again is None else [route[0] for route in self.again],
            "trusted": self.trusted,
        }


class Preview:
    """One request."""

    def __init__(
        self,
        graph: Any,
        isolation: Isolation,
        serde: Any,
        request: dict[str, Any],
        blobs: Sequence[bytes],
        loop: Any,
    ) -> None:
        self._request = request
        self._blobs = blobs
        self._serde = serde
        self._scratch = Scratch(graph, isolation, request, blobs, loop)
        self._why: str | None = None

    def answer(self) -> tuple[dict[str, Any], list[bytes]]:
        """The reply and its blobs."""
        scratch, base_id = self._scratch, self._request["checkpoint"]
        hold = Hold(scratch, base_id, self._request["metadata"])
        before = self._next(base_id)
        if self._request["input"] is not None:
            return self._with_input(hold, base_id, before)
        as_node = self._request["as_node"]
        producers = [] if as_node is not None else self._producers()
        asked = as_node is None and self._trusted(base_id, producers)
        held_id = hold.make(self._edits())
        made_id, rerouted = held_id, False
        if as_node is not None:
            made_id = self._as_node(held_id, as_node)
        elif asked:
            child = self._flipped(held_id, producers)
            if child is not None:
                made_id, rerouted = child, True
        if made_id != held_id:
            made_id = self._one_row(made_id, base_id, hold)
        after = self._next(made_id)
        if as_node is not None:
            self._say_dropped(hold, as_node, before, after)
        return self._reply(hold, made_id, before, after, rerouted, producers)

    def _with_input(
        self, hold: Hold, base_id: str, before: list[str] | None
    ) -> tuple[dict[str, Any], list[bytes]]:
        """New input at the checkpoint, as `invoke(input)` takes it: what is due there gives way."""
        value = hold.input(self._loaded(self._request["input"]))
        at = base_id
        try:
            if before:
                at = self._scratch.emit(at, [StateUpdate(None, END)])
            made_id = self._scratch.emit(at, [StateUpdate(value, _INPUT)])
        except Exception as error:
            raise RequestError(
                f"The graph does not take this input. {described(error)['sentence']}"
            ) from error
        if before:
            hold.warnings.append(
                f"The new input takes the place of {_named(before)}, which "
                f"{'was' if len(before) == 1 else 'were'} due here."
            )
        made_id = self._one_row(made_id, base_id, hold, source="input")
        hold.values["__start__"] = value
        return self._reply(hold, made_id, before, self._next(made_id), False, [])

    # What is asked.

    def _edits(self) -> list[tuple[str, str, Any]]:
        return [
            (
                edit["channel"],
                edit["how"],
                Hold.EMPTY if edit["value"] is None else self._loaded(edit["value"]),
            )
            for edit in self._request["edits"]
        ]

    def _loaded(self, stated: dict[str, Any]) -> Any:
        return self._serde.loads_typed((stated["type"], self._blobs[stated["blob"]]))

    def _producers(self) -> list[Producer]:
        """The tasks with output among the parent's writes, and where each went."""
        nodes = self._request["nodes"]
        found: dict[str, Producer] = {}
        for task_id, path in self._request["finished"]:
            node = nodes.get(task_id)
            if node is None and path.startswith(_PULL):
                node = path[len(_PULL) :].split(", ")[0]
            if node in self._scratch.graph.nodes:
                found[task_id] = Producer(node, task_id)
            elif node is not None:
                self._why = f"The graph has no node '{node}' any more, which led here."
        for task_id, channel, value in self._request["routes"]:
            if task_id in found:
                found[task_id].recorded += self._route(channel, self._loaded(value))
        return list(found.values())

    def _route(self, channel: str, value: Any) -> list[Route]:
        if channel.startswith("branch:to:"):
            return [(channel[len("branch:to:") :], "")]
        if channel.startswith(("join:", "branch:")):
            return [(channel, repr(value) if channel.startswith("join:") else "")]
        if channel == _TASKS:
            sends = value if isinstance(value, (list, tuple)) else [value]
            return [(send.node, self._bytes(send.arg)) for send in sends]
        return []

    def _bytes(self, value: Any) -> str:
        """A Send's payload, without what LangGraph counts itself (`remaining_steps`)."""
        managed = getattr(self._scratch.graph, "managed", None) or [
            name
            for name, channel in self._scratch.graph.channels.items()
            if not hasattr(channel, "from_checkpoint")
        ]
        kind, data = self._serde.dumps_typed(_comparable(value, set(managed)))
        return f"{kind}:{data.hex()}"

    # Asking.

    def _trusted(self, base_id: str, producers: list[Producer]) -> bool:
        """Whether all producers give their recorded routes again on the unedited state."""
        if self._why is not None:
            return False
        if not producers:
            self._why = self._request["alone"] or "No node led here that could be asked again."
            return False
        try:
            child, emitted = self._emitted(base_id, producers)
            for producer, routes in zip(producers, emitted):
                producer.again = routes
        except Exception as error:
            self._why = (
                f"A router cannot be asked about the unedited state. {described(error)['sentence']}"
            )
            return False
        if self._request["edited"]:
            for producer in producers:
                producer.recorded = list(producer.again or ())
            if self._next(child) != self._next(base_id):
                self._why = (
                    "The routes of the edit that this one is made on are given no more: the "
                    "code of its routers has changed."
                )
                return False
        wrong = next((producer for producer in producers if not producer.trusted), None)
        if wrong is not None:
            self._why = _distrust(wrong)
        return wrong is None

    def _flipped(self, held_id: str, producers: list[Producer]) -> str | None:
        """The child of the edited checkpoint, where the routers choose otherwise there."""
        try:
            child, routes = self._emitted(held_id, producers)
        except Exception as error:
            self._why = f"A router failed on the edited state. {described(error)['sentence']}"
            return None
        same = all(sorted(r) == sorted(p.recorded) for p, r in zip(producers, routes))
        return None if same else child

    def _emitted(self, at: str, producers: list[Producer]) -> tuple[str, list[list[Route]]]:
        """Let all producers' writers run on a checkpoint: the child, and the routes of each."""
        own = [str(uuid4()) for _ in producers]
        child = self._scratch.emit(
            at, [StateUpdate(None, p.node, task_id) for p, task_id in zip(producers, own)]
        )
        routes = [
            [route for c, v in self._scratch.written(task_id) for route in self._route(c, v)]
            for task_id in own
        ]
        return child, routes

    def _as_node(self, held_id: str, as_node: str) -> str:
        nodes = self._scratch.graph.nodes
        if as_node != END and as_node not in nodes:
            from difflib import get_close_matches

            near = get_close_matches(as_node, list(nodes), n=1)
            known = ", ".join(n for n in nodes if n != "__start__")
            hint = f"did you mean '{near[0]}'?" if near else f"it has {known}."
            raise RequestError(f"The graph has no node '{as_node}'; {hint}")
        try:
            return self._scratch.emit(held_id, [StateUpdate(None, as_node)])
        except Exception as error:
            raise RequestError(
                f"The routers of '{as_node}' failed on the edited state. "
                f"{described(error)['sentence']}"
            ) from error

    # The result.

    def _one_row(self, made_id: str, base_id: str, hold: Hold, source: str = "update") -> str:
        """The re-routed checkpoint as a direct child of the base, one step on."""
        made = self._scratch.stored(made_id).checkpoint
        checkpoint = stamped(made, hold.step)
        checkpoint["channel_values"] = dict(made["channel_values"])
        hold.keep_deltas(checkpoint)
        self._scratch.put(base_id, checkpoint, {**hold.metadata(), "source": source})
        return str(checkpoint["id"])

    def _next(self, checkpoint_id: str) -> list[str] | None:
        """What is due; `None` where the state itself does not pass the user's checks."""
        try:
            return self._scratch.next(checkpoint_id)
        except Exception:
            return None

    def _say_dropped(
        self, hold: Hold, as_node: str, before: list[str] | None, after: list[str] | None
    ) -> None:
        dropped = list(before or ())
        for node in after or ():
            if node in dropped:
                dropped.remove(node)
        if dropped:
            hold.warnings.append(
                f"As if '{as_node}' had written this, {_named(dropped)} "
                f"{'is' if len(dropped) == 1 else 'are'} no longer due."
            )

    def _is_plain(self, rerouted: bool) -> bool:
        """Whether the edit was held, and nobody asked for anything else."""
        asked = self._request["as_node"] is not None or self._request["input"] is not None
        return not rerouted and not asked

    def _reply(
        self,
        hold: Hold,
        made_id: str,
        before: list[str] | None,
        after: list[str] | None,
        rerouted: bool,
        producers: list[Producer],
    ) -> tuple[dict[str, Any], list[bytes]]:
        values = Values()
        parent_id, kind, checkpoint, metadata = self._scratch.row(made_id)
        reply = {
            "row": {
                "id": made_id,
                "parent_id": parent_id,
                "checkpoint": values.add((kind, checkpoint)),
                "metadata": values.raw(metadata),
            },
            "next_before": before,
            "next": after,
            "rerouted": rerouted,
            "producers": [producer.plain() for producer in producers],
            "held": self._why if self._is_plain(rerouted) else None,
            "values": {
                name: values.add(self._serde.dumps_typed(value))
                for name, value in hold.values.items()
            },
            "warnings": hold.warnings,
        }
        self._scratch.close()
        return reply, values.blobs


def _named(nodes: Sequence[str]) -> str:
    """Nodes of tasks, each once."""
    return ", ".join(dict.fromkeys(nodes))


def _comparable(value: Any, names: set[str]) -> Any:
    """A payload without some entries: its own, or those of the state inside it (which a tool call
    has among its arguments, and the Send of it is a list). Entries in one order: those of a state
    come in another where its node wrote nothing."""
    if isinstance(value, dict):
        kept = ((key, _comparable(v, names)) for key, v in value.items() if key not in names)
        return dict(sorted(kept, key=lambda entry: repr(entry[0])))
    if type(value) in (list, tuple):
        return [_comparable(item, names) for item in value]
    return value


def _distrust(producer: Producer) -> str:
    """Why a node's routers are not believed."""
    again = producer.again or []
    lost = [route[0] for route in producer.recorded if route not in again]
    new = [route[0] for route in again if route not in producer.recorded]
    if lost and not new:
        return (
            f"'{producer.node}' went to {', '.join(lost)} by a Command, "
            "whose route is known only by running it."
        )
    if sorted(route[0] for route in again) == sorted(route[0] for route in producer.recorded):
        return (
            f"On the unedited state '{producer.node}' would now send other values to "
            f"{', '.join(sorted({route[0] for route in again}))} than it did: "
            "it saw other values then, or its code has changed."
        )
    return (
        f"On the unedited state '{producer.node}' would now go to "
        f"{', '.join(route[0] for route in again) or 'END'}, and it went to "
        f"{', '.join(route[0] for route in producer.recorded) or 'END'}: "
        "it saw other values then, or its code has changed."
    )
