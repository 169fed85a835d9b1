"""A project whose nodes ask chat models, which stream without a network."""

from __future__ import annotations

GRAPHS = '''
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send

HERE = Path(__file__).parent


class State(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    listed: list
    topic: str


class Whole(BaseChatModel):
    """Answers at once."""

    says: str
    candidates: int = 1
    counts: bool = True

    @property
    def _llm_type(self):
        return "whole"

    def usage(self):
        words = len(self.says.split())
        return {"input_tokens": 7, "output_tokens": words, "total_tokens": 7 + words}

    def _generate(self, messages, stop=None, run_manager=None, **more):
        answer = AIMessage(self.says, usage_metadata=self.usage() if self.counts else None)
        return ChatResult(generations=[ChatGeneration(message=answer)] * self.candidates)


class Model(Whole):
    """Answers word by word."""

    def _stream(self, messages, stop=None, run_manager=None, **more):
        for word in self.says.split(" "):
            time.sleep(0.002)
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        last = AIMessageChunk(content="", usage_metadata=self.usage() if self.counts else None)
        yield ChatGenerationChunk(message=last)


class Blocks(Model):
    """The provider's own id comes first, then blocks of content."""

    def _stream(self, messages, stop=None, run_manager=None, **more):
        yield ChatGenerationChunk(message=AIMessageChunk(content="", id="msg_1"))
        for part in ({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": self.says}):
            message = AIMessageChunk(content=[{**part, "index": 0}], id=None)
            yield ChatGenerationChunk(message=message)


def asks(model, **more):
    def node(state):
        return {"messages": [model.invoke("hi")], **more}
    return node


def awaits(model):
    async def node(state):
        return {"messages": [await model.ainvoke("hi")]}
    return node


def graph(**nodes):
    """All nodes side by side."""
    made = StateGraph(State)
    for name, node in nodes.items():
        made.add_node(name, node)
        made.add_edge(START, name)
    return made.compile()


def line(**nodes):
    made = StateGraph(State)
    before = START
    for name, node in nodes.items():
        made.add_node(name, node)
        made.add_edge(before, name)
        before = name
    return made.compile()


def copies(state):
    """What the model said, in a message of the node's own."""
    return {"messages": [AIMessage(Model(says="the same").invoke("hi").content, name="me")]}


def makes(state):
    tool = ToolMessage("looked up", tool_call_id="1")
    return {"messages": [HumanMessage("asked"), tool, AIMessage("made by hand")]}


def commands(state):
    return [Command(update={"messages": [AIMessage("commanded")]}), {"topic": "x"}]


def lists(state):
    before = [AIMessage("no id"), *(state.get("listed") or ())]
    return {"listed": before}


def again(state):
    """All that there was, and one more."""
    return {"listed": [*state["listed"], AIMessage("one more")]}


def twice(state):
    Model(says="first").invoke("hi")
    Model(says="second").invoke("hi")
    Whole(says="second").invoke("hi")
    return {"topic": "x"}


def hides(state):
    Model(says="not for you").with_config(tags=["nostream"]).invoke("hi")
    return {"topic": "x"}


def fails(state):
    for word in Model(says="half of it").stream("hi"):
        if word.content == "of ":
            raise ValueError("no more")


def quiet(state):
    return {"topic": "x"}


def calls(state):
    """A graph that is called, not added."""
    return {"messages": inside.invoke({})["messages"]}


def works(state):
    return asks(Model(says=f"about {state['topic']}"))(state)


inside = line(write=asks(Model(says="from inside")))
draft = line(draft=asks(Model(says="dear customer")), quiet=quiet)
waits = line(draft=awaits(Model(says="dear customer")), sub=line(write=awaits(Model(says="below"))))
whole = line(whole=asks(Whole(says="all at once", candidates=2)))
uncounted = line(uncounted=asks(Model(says="nobody counts", counts=False)))
blocks = line(blocks=asks(Blocks(says="told in blocks")))
copy = line(copies=copies)
made = line(makes=makes, commands=commands)
listed = line(lists=lists, again=again)
several = line(twice=twice)
hidden = line(hides=hides)
failing = line(fails=fails)
nested = line(sub=line(write=asks(Model(says="from below")), quiet=quiet), calls=calls)
beside = graph(
    a=asks(Model(says="alpha beta gamma delta")), b=asks(Model(says="one two three four"))
)
packs = StateGraph(State)
packs.add_node("works", works)
packs.add_conditional_edges(START, lambda s: [Send("works", {"topic": t}) for t in "xyz"])
packs = packs.compile()
'''
