"""A conversation of many messages in one checkpoint, as LangGraph stores it."""

from __future__ import annotations

from pathlib import Path

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from tests.bench.stores import cached
from tests.bench.stores.growing import TEXT, builder
from tests.bench.stores.repeat import new_store, run

THREAD = "talk"


def messages(count: int, characters: int) -> Path:
    """The store of a thread named `THREAD`, whose newest checkpoint holds so many messages."""
    return cached(f"messages-{count}-{characters}-1.db", lambda p: _build(p, count, characters))


def _build(path: Path, count: int, characters: int) -> None:
    text = (TEXT * (characters // len(TEXT) + 1))[:characters]
    with new_store(path) as connection:
        graph = builder.compile(checkpointer=SqliteSaver(connection))
        talk = [_message(number, text) for number in range(count)]
        run(graph, THREAD, {"messages": talk, "wanted": 1, "done": 0})


def _message(number: int, text: str) -> AnyMessage:
    """A question, a tool call, its result, an answer, and so on."""
    call_id = f"call-{number // 4}"
    match number % 4:
        case 0:
            return HumanMessage(text, id=f"message-{number}")
        case 1:
            call = {"name": "look_up", "args": {"order_id": f"order-{number}"}, "id": call_id}
            return AIMessage(text, id=f"message-{number}", tool_calls=[call])
        case 2:
            return ToolMessage(text, id=f"message-{number}", name="look_up", tool_call_id=call_id)
        case _:
            return AIMessage(text, id=f"message-{number}")
