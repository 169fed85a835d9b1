"""What the worker is made of: Python 3.9 and what LangGraph brings."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import ormsgpack
import pytest

from hosting import hosted, plain, typed
from retrograph.engine.errors import HostError
from retrograph.engine.host.client import WORKER
from retrograph.engine.host.requests import Delta, fold
from retrograph.engine.host.worker.frames import (
    FrameError,
    Packb,
    Unpacker,
    pack,
    pack_events,
    told,
)

FILES = sorted(WORKER.glob("*.py"))
BROUGHT = {"langgraph", "langchain_core", "langsmith", "ormsgpack", "pydantic", "_rg_worker"}
OPTIONAL = {"numpy", "langgraph_sdk"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_its_code(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    names = {
        (node.module or "").partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 0
    } | {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert names <= BROUGHT | OPTIONAL | sys.stdlib_module_names


def test_frames_in_pieces_of_any_size() -> None:
    frames = [({"n": n}, [b"x" * n, b"", b"y" * 1000]) for n in range(5)]
    data = b"".join(b"".join(pack(*frame)) for frame in frames)
    for size in (1, 3, 100, len(data)):
        unpacker = Unpacker()
        found = [
            frame
            for at in range(0, len(data), size)
            for frame in unpacker.feed(data[at : at + size])
        ]
        assert found == frames


@pytest.mark.parametrize("odd", ["text", "\ud83d", 2**70, None, 0.25, {"a": [True, Path("x")]}])
@pytest.mark.parametrize("packb", [None, ormsgpack.packb])
def test_frames_of_events(odd: object, packb: Packb) -> None:
    """Whatever an event brings, and whichever way it is encoded."""
    events = [{"event": "custom", "at": 1.5, "text": odd}, {"event": "task_end", "error": None}]
    data = pack_events(events, packb)
    ((header, blobs),) = Unpacker().feed(data)
    shown = {"a": [True, "x"]} if isinstance(odd, dict) else odd
    assert blobs == []
    assert told(header) == [
        {"is": "event", "event": "custom", "at": 1.5, "text": shown},
        {"is": "event", "event": "task_end", "error": None},
    ]


@pytest.mark.parametrize(
    "data", [b"\xff" * 8, b"\0\0\0\2\0\0\0\0[]", b"\0\0\0\1\0\0\0\0x", b"\0\0\0\2\0\0\0\0\xc1\x80"]
)
def test_what_is_no_frame(data: bytes) -> None:
    with pytest.raises(FrameError):
        list(Unpacker().feed(data))


GRAPH = """
from typing import Annotated, TypedDict
from langgraph.channels import DeltaChannel
from langgraph.graph import START, StateGraph

def fold(state, writes):
    return state + [x for w in writes for x in w]

class State(TypedDict, total=False):
    plain: list
    rows: Annotated[list, DeltaChannel(fold)]

graph = StateGraph(State).add_node("a", lambda s: {}).add_edge(START, "a").compile()
"""


def test_folding(tmp_path: Path) -> None:
    (tmp_path / "deltas.py").write_text(GRAPH)
    with hosted(tmp_path, "deltas.py:graph") as (host, loaded):
        assert loaded.deltas == ["rows"]
        writes = [typed(["a"]), typed(["b", "c"])]
        found = fold(host, [Delta("rows", typed(["seed"]), writes)])
        assert plain(found["rows"]) == ["seed", "a", "b", "c"]
        assert plain(fold(host, [Delta("rows", None, writes)])["rows"]) == ["a", "b", "c"]
        with pytest.raises(HostError, match="The graph has no DeltaChannel 'plain'"):
            fold(host, [Delta("plain", None, [])])
        with pytest.raises(
            HostError, match=r"The reducer of 'rows' failed: It failed at deltas\.py"
        ):
            fold(host, [Delta("rows", None, [typed(3)])])
