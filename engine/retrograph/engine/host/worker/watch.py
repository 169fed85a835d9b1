"""Exact starts, ends and exceptions of tasks, and the tokens of their models, by callbacks.

LangGraph's stream tells of all starts of a super-step at once, before any, and loses all but one
of several parallel exceptions. Its callbacks tell each as it happens.
"""

from __future__ import annotations

import threading
import time
from itertools import count
from typing import Any, Callable

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from .faults import described

Tell = Callable[[str, dict[str, Any]], None]


_numbers = count(1)
"""Of attempts; in one host no two have the same."""


class Watcher(BaseCallbackHandler):
    """Tells `task_start` and `task_end` of every task, in sub-graphs too.

    Both bring `run` (the number of this attempt), `id` (of the task), `ns`, `node`, `step`; the end
    also `seconds`, `tokens` (of all models that it called, or null), `error`, and `stopped`: it
    left by a question or a `Command` to its parent, not by an exception.
    """

    run_inline = True
    raise_error = False

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._tasks: dict[str, _Task] = {}
        """By their ids."""
        self._runs: dict[int, _Task] = {}
        """By their run's id as a number: a UUID's own hash is computed in Python."""
        self._models: dict[int, _Task] = {}
        """By the run's id of each model call."""
        self._failed: list[tuple[BaseException, dict[str, Any]]] = []
        """Exceptions of tasks, the innermost first."""

    # Called for everything that is traced, in each step: what is no task is left at once.

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Any,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **more: Any,
    ) -> None:
        if name is None or metadata is None or metadata.get("langgraph_node") != name:
            return
        if name == "__start__":
            return
        ns, _, task_id = str(metadata.get("langgraph_checkpoint_ns", "")).rpartition(":")
        task = _Task(
            {
                "run": next(_numbers),
                "id": task_id,
                "ns": ns.rpartition("|")[0],
                "node": name,
                "step": metadata.get("langgraph_step"),
            }
        )
        # One step that no other thread can come between.
        if self._tasks.setdefault(task_id, task) is not task:
            return  # something of the node's own name inside it
        self._runs[run_id.int] = task
        self._tell("task_start", dict(task.said))
        task.began = time.perf_counter()

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        task = self._runs.pop(run_id.int, None)
        if task is not None:
            self._end(task, None)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        task = self._runs.pop(run_id.int, None)
        if task is not None:
            self._end(task, error)

    def _end(self, task: _Task, error: BaseException | None) -> None:
        seconds = time.perf_counter() - task.began
        said = task.said
        self._tasks.pop(said["id"], None)
        stopped = isinstance(error, GraphBubbleUp)
        told = None
        if error is not None and not stopped:
            told = described(error, said["node"])
            self._failed.append((error, told))
        said["seconds"] = seconds
        said["tokens"] = task.tokens
        said["stopped"] = stopped
        said["error"] = told
        self._tell("task_end", said)

    def told(self, error: BaseException) -> dict[str, Any] | None:
        """What was told of an exception, with its node; `None` where no task raised it."""
        return next((told for raised, told in self._failed if raised is error), None)

    def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: Any, **more: Any
    ) -> None:
        self._model(run_id, more.get("metadata"))

    def on_llm_start(self, serialized: Any, prompts: Any, *, run_id: Any, **more: Any) -> None:
        self._model(run_id, more.get("metadata"))

    def _model(self, run_id: Any, metadata: Any) -> None:
        _, _, task_id = str((metadata or {}).get("langgraph_checkpoint_ns", "")).rpartition(":")
        task = self._tasks.get(task_id)
        if task is not None:
            self._models[run_id.int] = task

    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        task = self._models.pop(run_id.int, None)
        tokens = sum(map(_tokens, getattr(response, "generations", None) or ()))
        if task is not None and tokens:
            with self._lock:  # models run beside each other
                task.tokens = (task.tokens or 0) + tokens


class _Task:
    """A task that runs."""

    __slots__ = ("began", "said", "tokens")

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said
        """What is told of it at its start and at its end."""
        self.began = 0.0
        self.tokens: int | None = None


def _tokens(candidates: Any) -> int:
    """Tokens of one answer: each of several candidates (`n=2`) states those of all of them."""
    usages = (
        getattr(getattr(candidate, "message", None), "usage_metadata", None) or {}
        for candidate in candidates
    )
    return max((usage.get("total_tokens") or 0 for usage in usages), default=0)
