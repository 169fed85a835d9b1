"""Task paths and task ids: how a stored write is traced to the node that made it.

Stores written by langgraph-checkpoint-sqlite up to 3.0 have no task path, and a checkpointer's
public interface never gives it. There, the id itself tells: it is a hash of the checkpoint, the
step and the node, so the ids of all nodes that could have run are computed and compared.
Sources: `langgraph/pregel/_algo.py` (`task_path_str`, `_xxhash_str`, `_uuid5_str`), the same in
0.2.0 (`uuid5` over JSON), and LangGraph.js `pregel/algo.ts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha1
from typing import Literal, NamedTuple
from uuid import UUID

from xxhash import xxh3_128_hexdigest

PULL = "__pregel_pull"
PUSH = "__pregel_push"
_HANDLER = "node_error_handler"

Kind = Literal["pull", "send", "call", "handler", "update", "unknown"]


class TaskPath(NamedTuple):
    """What a stored task path says."""

    kind: Kind
    node: str | None
    """pull: the node; call: the node whose function made the call; handler: the node that
    failed (where it was a pull task)."""
    send: int | None = None
    """send: which of the pending Sends."""


_DIGITS = 18
"""LangGraph writes ten; Python refuses to read thousands."""
_UNKNOWN = TaskPath("unknown", None)
EDIT = TaskPath("update", None)
"""The writes of an `update_state`."""


@lru_cache(maxsize=4096)
def parse_path(path: str) -> TaskPath:
    """`~__pregel_pull, price` → pull of price; see `Kind` for the others."""
    if path.startswith(f"~{PULL}, "):
        rest = path[len(PULL) + 3 :]
        node, mark, _ = rest.partition(f", {_HANDLER}, ")
        if mark:
            return TaskPath("handler", node)
        return TaskPath("pull", rest)
    if path.startswith(f"~{PUSH}, "):
        rest = path[len(PUSH) + 3 :]
        number = rest.partition(", ")[0]
        if number.isdecimal() and len(number) <= _DIGITS:
            return TaskPath("handler" if _HANDLER in rest else "send", None, int(number))
        _, mark, caller = rest.rpartition(f"~{PULL}, ")
        return TaskPath("call", _without_numbers(caller) if mark else None)
    if path.startswith("~__interrupt__, "):
        return EDIT
    return _UNKNOWN


def _without_numbers(caller: str) -> str:
    """`node` of `node, 0000000000, 0000000001, False`, the numbers of its calls."""
    end = len(caller.removesuffix(", True").removesuffix(", False"))
    whole = end
    while caller[end - 12 : end - 10] == ", " and caller[end - 10 : end].isdecimal():
        end -= 12
    return caller[:end] if end < whole else caller


class Call(NamedTuple):
    """A task that may have run at a checkpoint: enough to compute its id."""

    node: str
    triggers: tuple[tuple[str, ...], ...]
    """Candidates for the sorted trigger channels, likeliest first; `()` for a Send."""
    send: int | None = None
    """Which of the pending Sends; `None` for a node triggered by channels."""


def task_id(checkpoint_id: str, ns: str, step: int, v: int, call: Call) -> str | None:
    """The id that today's LangGraph gives the task; `None` where the checkpoint id is no UUID."""
    try:
        seed = UUID(checkpoint_id).bytes
    except ValueError:
        return None
    return _hashed(seed, next(iter(_parts(ns, step, call)), ()), old=v <= 1)


def match_ids(
    wanted: Iterable[str],
    calls: Sequence[Call],
    *,
    checkpoint_id: str,
    ns: str,
    step: int | None,
) -> dict[str, Call]:
    """Which of `calls` the task ids in `wanted` belong to, over all known ways to make an id."""
    left = set(wanted)
    found: dict[str, Call] = {}
    if not left or step is None:
        return found
    try:
        seed = UUID(checkpoint_id)
    except ValueError:
        return found
    sends = sum(call.send is not None for call in calls)
    pulls = range(sends, len(calls) + 1)
    for call in calls:
        places = pulls if call.send is None else range(call.send, call.send + 1)
        for candidate in _candidates(seed, ns, step, call, places):
            if candidate in left:
                found[candidate] = call
                left.discard(candidate)
                break
        if not left:
            break
    return found


def _candidates(seed: UUID, ns: str, step: int, call: Call, places: range) -> Iterator[str]:
    """All ids that some version of LangGraph would give this task, likeliest first."""
    for parts in _parts(ns, step, call):
        yield _hashed(seed.bytes, parts, old=False)
        yield _hashed(seed.bytes, parts, old=True)
    path = f"{ns}|{call.node}" if ns else call.node
    # LangGraph.js names the one channel that triggered the node.
    if call.send is None:
        for trigger in dict.fromkeys(t for triggers in call.triggers for t in triggers):
            yield _json_id(seed, [path, str(step), call.node, PULL, [trigger]])
    else:
        yield _json_id(seed, [path, str(step), call.node, PUSH, str(call.send)])
    # langgraph 0.2.0: the position among the step's tasks is part of the id.
    for position in places:
        for triggers in call.triggers or (("__pregel_tasks",),):
            metadata = {
                "langgraph_step": step,
                "langgraph_node": call.node,
                "langgraph_triggers": list(triggers),
                "langgraph_task_idx": position,
            }
            yield _uuid5(seed, json.dumps((path, metadata)))


def _json_id(seed: UUID, parts: list[object]) -> str:
    return _uuid5(seed, json.dumps(parts, separators=(",", ":"), ensure_ascii=False))


def _uuid5(seed: UUID, name: str) -> str:
    """`uuid.uuid5`, but names with lone surrogates do not raise."""
    data = seed.bytes + name.encode("utf-8", "surrogatepass")
    return str(UUID(bytes=sha1(data, usedforsecurity=False).digest()[:16], version=5))


def _parts(ns: str, step: int, call: Call) -> Iterator[tuple[str, ...]]:
    path = f"{ns}|{call.node}" if ns else call.node
    if call.send is None:
        for triggers in call.triggers:
            yield (path, str(step), call.node, PULL, *triggers)
    else:
        yield (path, str(step), call.node, PUSH, str(call.send))


def edit_ids(checkpoint_id: str, several: int) -> frozenset[str]:
    """The task ids under which `update_state` records its writes at this checkpoint, where they
    do not take the place of a due task; `several` edits can make one step."""
    try:
        seed = UUID(checkpoint_id)
    except ValueError:
        return frozenset()
    names = ["__interrupt__", "__input__", *(f"__interrupt__:{i}" for i in range(1, several))]
    return frozenset(_uuid5(seed, name) for name in names)


def handler_id(
    checkpoint_id: str, ns: str, step: int, node: str, failed: str, failed_task: str
) -> str | None:
    """The id of the task in which `node` handles the error of `failed`: it is named as if it ran
    in a namespace of the failed task."""
    try:
        seed = UUID(checkpoint_id).bytes
    except ValueError:
        return None
    path = f"{ns}|" if ns else ""
    path += f"{failed}:{failed_task}|{node}"
    return _hashed(seed, (path, str(step), node, PUSH, _HANDLER, failed_task), old=False)


def _hashed(seed: bytes, parts: Iterable[str], *, old: bool) -> str:
    data = seed + "".join(parts).encode("utf-8", "surrogatepass")
    digest = sha1(data, usedforsecurity=False).hexdigest() if old else xxh3_128_hexdigest(data)
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
