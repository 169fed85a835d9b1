"""Exact starts, ends and exceptions of tasks, and the tokens of their models, by callbacks.

LangGraph's stream tells of all starts of a super-step at once, before any, and loses all but one
of several parallel exceptions. Its callbacks tell each as it happens.
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.errors import GraphBubbleUp

from .faults import described

Tell = Callable[..., None]


class Watcher(BaseCallbackHandler):
    """Tells `task_start` and `task_end` of every task, in sub-graphs too.

    Both bring `run` (this attempt), `id` (of the task), `ns`, `node`, `step`; the end also
    `seconds`, `tokens` (of all models that it called, or null), `error`, and `stopped`: it left by
    a question or a `Command` to its parent, not by an exception.
    """

    run_inline = True
    raise_error = False

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._tasks: dict[Any, dict[str, Any]] = {}
        self._models: dict[Any, Any] = {}
        """Run of a model call to the run of its task."""
        self._failed: list[tuple[BaseException, dict[str, Any]]] = []
        """Exceptions of tasks, the innermost first."""

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        tags: Any = None,
        metadata: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        metadata = metadata or {}
        node = metadata.get("langgraph_node")
        if node is None or more.get("name") != node or node == "__start__":
            return
        ns, _, task_id = str(metadata.get("langgraph_checkpoint_ns", "")).rpartition(":")
        ns = ns.rpartition("|")[0]
        task = {"id": task_id, "ns": ns, "node": node, "step": metadata.get("langgraph_step")}
        with self._lock:
            if any(t["id"] == task_id for t in self._tasks.values()):
                return  # something of the node's own name inside it
            self._tasks[run_id] = {**task, "began": time.perf_counter(), "tokens": None}
        self._tell("task_start", run=str(run_id), **task)

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        self._end(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self._end(run_id, error)

    def _end(self, run_id: Any, error: BaseException | None) -> None:
        ended = time.perf_counter()
        with self._lock:
            task = self._tasks.pop(run_id, None)
        if task is None:
            return
        stopped = isinstance(error, GraphBubbleUp)
        told = described(error, task["node"]) if error is not None and not stopped else None
        if told is not None and error is not None:
            self._failed.append((error, told))
        self._tell(
            "task_end",
            run=str(run_id),
            id=task["id"],
            ns=task["ns"],
            node=task["node"],
            step=task["step"],
            seconds=ended - task["began"],
            tokens=task["tokens"],
            stopped=stopped,
            error=told,
        )

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
        with self._lock:
            for task_run, task in self._tasks.items():
                if task["id"] == task_id:
                    self._models[run_id] = task_run

    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        tokens = sum(map(_tokens, getattr(response, "generations", None) or ()))
        with self._lock:
            task = self._tasks.get(self._models.pop(run_id, None))
            if task is not None and tokens:
                task["tokens"] = (task["tokens"] or 0) + tokens


def _tokens(candidates: Any) -> int:
    """Tokens of one answer: each of several candidates (`n=2`) states those of all of them."""
    usages = (
        getattr(getattr(candidate, "message", None), "usage_metadata", None) or {}
        for candidate in candidates
    )
    return max((usage.get("total_tokens") or 0 for usage in usages), default=0)
