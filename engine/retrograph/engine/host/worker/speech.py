"""What models say, told as they say it, each text once.

A callback handler with the two `tap_output…` methods is one for which chat models stream what they
are invoked for (langchain_core's `_StreamingCallbackHandler`, which is known by them). LangGraph's
stream mode `messages` is such a handler, too, and starts waiting threads for each super-step; this
one needs none. As there, a message that a node made itself is told when the node ends: not one that
it was given, nor what a model has said in it before, also where its text stands in a message that
the node has made of it. Messages are not touched, and those of no model (of people, of tools) not
told.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Callable

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Command

Tell = Callable[..., None]
_SILENT = "nostream"
"""The tag of a model whose text is not to be shown (`langgraph.constants.TAG_NOSTREAM`)."""


class _Model:
    """A call of a model that goes on."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task
        self.id: Any = None
        """The id that its message will have: the first that a chunk had."""
        self.texts: list[str] = []


class Speech(BaseCallbackHandler):
    """Tells `message`: `task`, `ns`, `node`, `step` as `task_start` has them (`task` is its id),
    `id` of the message, the same in all its parts, and `text`."""

    run_inline = True
    raise_error = False

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._models: dict[Any, _Model] = {}
        self._nodes: dict[Any, tuple[dict[str, Any], list[Any]]] = {}
        """By run: the task, and the messages that it was given."""
        self._ids: set[Any] = set()
        """Of messages that have been told, or were given to a node."""
        self._texts: dict[str, set[str]] = {}
        """What was said whole, by the namespace of the task."""

    def tap_output_iter(self, run_id: Any, output: Any) -> Any:
        return output

    def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
        return output

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: Any, **more: Any
    ) -> None:
        self._begin(run_id, more)

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: Any, **more: Any) -> None:
        self._begin(run_id, more)

    def _begin(self, run_id: Any, more: dict[str, Any]) -> None:
        metadata = more.get("metadata") or {}
        if "langgraph_node" in metadata and _SILENT not in (more.get("tags") or ()):
            with self._lock:
                self._models[run_id] = _Model(_task(metadata))

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: Any, **more: Any) -> None:
        model = self._models.get(run_id)
        if model is None:
            return
        message = getattr(chunk, "message", None)
        self._say(model, message, _text(message) if message is not None else token)

    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        with self._lock:
            model = self._models.pop(run_id, None)
        if model is None:
            return
        first = next((g for given in response.generations for g in given), None)
        message = getattr(first, "message", None)
        if not model.texts and first is not None:  # it does not stream
            model.id = model.id or getattr(message, "id", None) or str(run_id)
            self._say(model, message, _text(message) if message is not None else first.text)
        self._told(model.task, message, "".join(model.texts))

    def on_llm_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        with self._lock:
            model = self._models.pop(run_id, None)
        if model is not None:
            self._told(model.task, None, "".join(model.texts))

    def _say(self, model: _Model, message: Any, text: Any) -> None:
        with self._lock:
            model.id = model.id or getattr(message, "id", None)
            self._ids.update((model.id, getattr(message, "id", None)))
        if text and isinstance(text, str):
            model.texts.append(text)
            self._tell("message", **model.task, id=model.id, text=text)

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        metadata = more.get("metadata") or {}
        node = metadata.get("langgraph_node")
        if node is None or more.get("name") != node or node == "__start__":
            return
        given = list(_messages(inputs))
        with self._lock:
            self._nodes[run_id] = (_task(metadata), given)
            self._ids.update(message.id for message in given)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        with self._lock:
            self._nodes.pop(run_id, None)

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        with self._lock:
            task, given = self._nodes.pop(run_id, (None, []))
        if task is None:
            return
        for message in _messages(outputs):
            text = _text(message)
            if not text or not isinstance(message, AIMessage) or self._is_told(task, message, text):
                continue
            if any(message is one for one in given):
                continue
            self._told(task, message, text)
            self._tell("message", **task, id=message.id, text=text)

    def _is_told(self, task: dict[str, Any], message: Any, text: str) -> bool:
        """By its id, or by its text: in the task itself, or in one of a graph inside it."""
        where = _where(task)
        with self._lock:
            if message.id is not None and message.id in self._ids:
                return True
            return any(
                text in texts
                for ns, texts in self._texts.items()
                if ns == where or ns.startswith(where + "|")
            )

    def _told(self, task: dict[str, Any], message: Any, text: str) -> None:
        with self._lock:
            self._ids.add(getattr(message, "id", None))
            self._texts.setdefault(_where(task), set()).add(text)


def _task(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The task that a callback is of."""
    ns, _, id_ = str(metadata.get("langgraph_checkpoint_ns", "")).rpartition(":")
    return {
        "task": id_,
        "ns": ns.rpartition("|")[0],
        "node": metadata.get("langgraph_node"),
        "step": metadata.get("langgraph_step"),
    }


def _where(task: Mapping[str, Any]) -> str:
    """The namespace of a graph that runs inside the task."""
    inside = f"{task['node']}:{task['task']}"
    return f"{task['ns']}|{inside}" if task["ns"] else inside


def _messages(value: Any) -> Iterator[BaseMessage]:
    """The messages in what a node was given, or gave: a state or an update of it, a Command, pairs
    of a channel and its value, or several of these in a list."""
    if isinstance(value, Command):
        value = value.update
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str):
                yield from _held(one[1])
            elif isinstance(one, (Command, Mapping)):
                yield from _messages(one)
            elif isinstance(one, BaseMessage):
                yield one
    else:
        for one in _values(value):
            yield from _held(one)


def _values(state: Any) -> Iterable[Any]:
    """The channels' values of a state, or of an update of one."""
    if isinstance(state, Mapping):
        return state.values()
    if is_dataclass(state) and not isinstance(state, type):
        return [getattr(state, field.name) for field in fields(state)]
    names = getattr(type(state), "model_fields", None)
    return [getattr(state, name) for name in names] if isinstance(names, Mapping) else ()


def _held(value: Any) -> Iterator[BaseMessage]:
    """A channel's value that is a message, or those in it that are some."""
    if isinstance(value, BaseMessage):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (one for one in value if isinstance(one, BaseMessage))


def _text(message: Any) -> str:
    """The text of a message, or among its content blocks."""
    content = getattr(message, "content", "")
    if isinstance(content, str):
        return content
    parts = [
        part if isinstance(part, str) else part.get("text", "")
        for part in content
        if isinstance(part, (str, dict))
    ]
    return "".join(part for part in parts if isinstance(part, str))
