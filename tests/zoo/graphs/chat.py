"""Conversations: messages, several turns, a prebuilt agent with tools."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.prebuilt import create_react_agent
from langgraph.types import interrupt

from zoo.run import Run


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    summary: str


def human(text: str, id: str, **more: Any) -> HumanMessage:
    return HumanMessage(text, id=id, **more)


def messages(run: Run) -> None:
    """Three turns; the third summarises and removes; then all is removed by hand."""

    def reply(state: Chat) -> dict[str, Any]:
        n = len(state["messages"])
        content: Any = [{"type": "text", "text": f"reply {n}"}, {"type": "image", "url": "x:y"}]
        usage: Any = {"input_tokens": n, "output_tokens": 2, "total_tokens": n + 2}
        answer = AIMessage(content, id=f"ai-{n}", name="bot", usage_metadata=usage)
        return {"messages": answer if n % 2 else [answer]}

    def summarise(state: Chat) -> dict[str, Any]:
        old = state["messages"][:-2]
        gone: list[Any] = [RemoveMessage(id=str(m.id)) for m in old]
        return {"summary": f"{len(old)} gone", "messages": [*gone, SystemMessage("sum", id="sys")]}

    g = StateGraph(Chat)
    g.add_node("reply", reply)
    g.add_node("summarise", summarise)
    g.add_edge(START, "reply")
    g.add_conditional_edges("reply", lambda s: "summarise" if len(s["messages"]) > 4 else END)
    graph = g.compile()
    run.go(graph, {"messages": [SystemMessage("be brief", id="s0"), human("one", "h1")]},
           run.thread())  # fmt: skip
    run.go(graph, {"messages": human("two", "h2", name="ann")}, run.thread())
    run.go(graph, {"messages": [human("three", "h3"), human("edited", "h1")]}, run.thread())
    run.update(graph, run.thread(), {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"sun in {city}"


@tool
def book(city: str) -> str:
    """Books a trip, once somebody agrees."""
    return f"{city}: {interrupt({'book': city})}"


def call(id: str, name: str, city: str) -> Any:
    return {"id": id, "name": name, "args": {"city": city}, "type": "tool_call"}


class Model(BaseChatModel):
    """Says the given messages, one after the other, by how many are its own already."""

    said: list[AIMessage]

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        before = sum(message.type == "ai" for message in messages)
        message = self.said[before].model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message)])

    @property
    def _llm_type(self) -> str:
        return "said"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self


def calls(id: str, *made: Any) -> AIMessage:
    return AIMessage("", id=id, tool_calls=list(made))


def _agent(*said: AIMessage, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_react_agent(Model(said=list(said)), [weather, book], **options)


def agent(run: Run) -> None:
    """A prebuilt agent: two parallel tool calls, an answer, a second turn with an interrupt."""
    graph = _agent(
        calls("a1", call("c1", "weather", "Oslo"), call("c2", "weather", "Rom")),
        AIMessage("Sun.", id="a2"),
        calls("a3", call("c3", "book", "Rom")),
    )
    run.go(graph, {"messages": [human("weather?", "h1")]}, run.thread())
    run.go(graph, {"messages": [human("book it", "h2")]}, run.thread())


def agent_v1(run: Run) -> None:
    """The same agent where one node runs all tools, and a tool that fails."""
    graph = _agent(
        calls("a1", call("c1", "weather", "Oslo"), call("c2", "nope", "Rom")),
        AIMessage("Done.", id="a2"),
        version="v1",
        prompt="be brief",
    )
    run.go(graph, {"messages": [human("weather?", "h1")]}, run.thread())
