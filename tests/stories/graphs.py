"""The code of the stories' project, as files of its own."""

AGENT = '''
import operator
import os
import sys
import time
from pathlib import Path
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

HERE = Path(__file__).parent


def effect(name):
    with (HERE / "effects.txt").open("a") as file:
        file.write(name + "\\n")


class State(TypedDict, total=False):
    path: str
    n: int
    log: Annotated[list[str], operator.add]


def step(name, **update):
    def node(state):
        effect(name)
        return {"log": [name], **update}

    return node


def builder(*names, state=State, **nodes):
    """A line of nodes."""
    g = StateGraph(state)
    before = START
    for name in names:
        g.add_node(name, nodes.get(name) or step(name))
        if before is not None:
            g.add_edge(before, name)
        before = name
    return g


def travel_builder():
    g = builder("a", "b")
    for name in ("c_main", "c_alt", "d"):
        g.add_node(name, step(name))
    g.add_conditional_edges("b", lambda s: f"c_{s['path']}", ["c_main", "c_alt"])
    g.add_edge("c_main", "d")
    g.add_edge("c_alt", "d")
    return g


def die(state):
    effect("step3")
    if (HERE / "die").exists():
        os._exit(9)
    return {"log": ["step3"]}


def crash_builder():
    return builder("step1", "step2", "step3", "step4", step3=die)


def ask(state):
    effect("ask")
    return {"log": ["answer " + interrupt({"question": "really?", "n": state.get("n")})]}


def asking_builder():
    return builder("pre", "ask", "post", ask=ask)


def nested_builder():
    return builder(
        "pre", "sub", "post", sub=builder("x", "ask", "y", ask=ask).compile()
    )


def decide(state):
    effect("decide")
    where = "left" if state.get("path") == "main" else "right"
    return Command(goto=where, update={"log": ["decide"]})


def command_builder():
    g = builder("first")
    g.add_node("decide", decide)
    g.add_edge("first", "decide")
    for name in ("left", "right"):
        g.add_node(name, step(name))
    return g


def partly(state):
    effect("bad")
    if (HERE / "mended").exists():
        return {"log": ["mended"]}
    raise ValueError("no such order")


def beside_builder():
    g = builder("pre")
    for name, node in (("good", step("good")), ("bad", partly)):
        g.add_node(name, node)
        g.add_edge("pre", name)
    g.add_node("z", step("z"))
    g.add_edge(["good", "bad"], "z")
    return g


def sending_builder():
    def one(state):
        effect("one")
        return {"log": [f"one {state['n']}"]}

    g = builder("plan")
    g.add_node("one", one)
    g.add_node("after", step("after"))
    g.add_conditional_edges(
        "plan", lambda s: [Send("one", {"n": i}) for i in range(s["n"])], ["one"]
    )
    g.add_conditional_edges("one", lambda s: "after", ["after"])
    return g


class Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


def chat_builder():
    def answer(state):
        effect("answer")
        said = state["messages"][-1].content
        return {"messages": [AIMessage(f"you said {said}", id="a1")]}

    def polite(state):
        effect("polite")
        return {"messages": [AIMessage("goodbye", id="a2")]}

    g = builder("answer", state=Chat, answer=answer)
    g.add_node("polite", polite)
    g.add_conditional_edges(
        "answer", lambda s: "polite" if "bye" in s["messages"][-1].content else END, ["polite", END]
    )
    return g


class Order(BaseModel):
    total: float
    lines: list[str] = []


class Shop(BaseModel):
    order: Order
    log: Annotated[list[str], operator.add] = []


def shop_builder():
    g = StateGraph(Shop)
    g.add_node("price", lambda s: {"order": Order(total=2.0 * len(s.order.lines))})
    g.add_node("ship", step("ship"))
    g.add_node("hold", step("hold"))
    g.add_edge(START, "price")
    g.add_conditional_edges(
        "price", lambda s: "ship" if s.order.total < 5 else "hold", ["ship", "hold"]
    )
    return g


def by_user_builder():
    def route(state, config):
        return "vip" if config["configurable"].get("user") == "ada" else "plain"

    g = builder("look")
    g.add_node("vip", step("vip"))
    g.add_node("plain", step("plain"))
    g.add_conditional_edges("look", route, ["vip", "plain"])
    return g


def loop_builder():
    def count(state):
        effect("count")
        return {"n": state["n"] + 1, "log": [f"count {state['n'] + 1}"]}

    g = builder("count", count=count)
    g.add_conditional_edges("count", lambda s: "count" if s["n"] < 3 else END, ["count", END])
    return g


def slow_builder():
    def slow(state):
        effect("slow")
        time.sleep(float(os.environ.get("SLOW", "0")))
        return {"log": ["slow"]}

    return builder("a", "slow", "c", "d", slow=slow)


travel = travel_builder().compile()
crash = crash_builder().compile()
asking = asking_builder().compile()
nested = nested_builder().compile()
command = command_builder().compile()
beside = beside_builder().compile()
sending = sending_builder().compile()
chat = chat_builder().compile()
shop = shop_builder().compile()
by_user = by_user_builder().compile()
loop = loop_builder().compile()
slow = slow_builder().compile()
'''

WRITE = """
import os

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

import agent
from agent import HERE, HumanMessage, Order

TURNS = {
    "travel": [{"path": "main", "n": 1}],
    "asking": [{"n": 2}],
    "answered": [{"n": 2}, Command(resume="yes")],
    "nested": [{"n": 2}],
    "command": [{"path": "main"}],
    "sending": [{"n": 3}],
    "chat": [{"messages": [HumanMessage(t, id=i)]} for t, i in (("hi", "h1"), ("bye", "h2"))],
    "shop": [{"order": Order(total=0, lines=["x"])}],
    "by_user": [{"n": 1}],
    "loop": [{"n": 0}],
    "slow": [{"n": 1}],
}
BUILDERS = {"answered": "asking"}

with SqliteSaver.from_conn_string("store.db") as saver:
    for thread, turns in TURNS.items():
        builder = getattr(agent, BUILDERS.get(thread, thread) + "_builder")()
        made = builder.compile(checkpointer=saver)
        where = {"configurable": {"thread_id": thread, "user": "ada"}}
        for turn in turns:
            made.invoke(turn, where, durability="sync")
    try:
        agent.beside_builder().compile(checkpointer=saver).invoke(
            {"n": 1}, {"configurable": {"thread_id": "beside"}}, durability="sync"
        )
    except ValueError:
        pass

(HERE / "die").touch()
if os.fork() == 0:
    with SqliteSaver.from_conn_string("store.db") as saver:
        agent.crash_builder().compile(checkpointer=saver).invoke(
            {"n": 1}, {"configurable": {"thread_id": "crash"}}, durability="sync"
        )
    os._exit(1)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 9
(HERE / "die").unlink()
"""
