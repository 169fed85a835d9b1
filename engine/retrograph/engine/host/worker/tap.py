"""What sub-graphs do and nodes say, as it happens, without LangGraph's waiting threads.

`stream(subgraphs=True)` or one of `custom` starts a thread for each super-step, and every node in
another one, which takes a third more time. A graph that is called by another one gives its events
to that one's stream instead: here, to ours. So nodes run in the thread that they run in under
`invoke`, too. (`Pregel.stream`, the same in 0.6 to 1.2.)
"""

from __future__ import annotations

from typing import Any, Callable

STREAM = "__pregel_stream"
RUNTIME = "__pregel_runtime"
MODES = ["tasks"]
"""What is streamed then, of the root graph alone."""


def tapped(graph: Any, configurable: dict[str, Any], take: Callable[[Any], Any]) -> bool:
    """Have `take` called with each part of a stream but those of `MODES` of the root. False, and
    nothing done, where this LangGraph has no such thing."""
    try:
        from langgraph.config import get_config
        from langgraph.pregel.protocol import StreamProtocol
        from langgraph.runtime import Runtime
    except ImportError:
        return False

    def streamed(part: Any) -> None:
        if part[0]:
            take(part)

    def written(value: Any) -> None:
        ns = get_config()["configurable"]["checkpoint_ns"]
        take((tuple(ns.split("|")[:-1]), "custom", value))

    configurable[STREAM] = StreamProtocol(streamed, {"tasks"})
    configurable[RUNTIME] = Runtime(store=graph.store, stream_writer=written)
    return True
