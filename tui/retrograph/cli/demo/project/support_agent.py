"""A support agent for a small shop: the graph behind Retrograph's demo.

    START → receive → assist ⇄ tools
                      assist → END                      a question, answered
                      assist → stock, fraud → price     an order, checked from two sides at once
                               price → ship | hold      large or risky orders wait for a person
                               hold → ship | notify
                      assist → inspect ×n → refund      a return, one look at each item
                      ship, refund → notify → END

It is deterministic and offline: the shop is the tables below and the model is a script. So a
replay gives the same values again, until you edit a value before it, or change this code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt

# --- The shop -----------------------------------------------------------------------------------


@dataclass
class Customer:
    name: str
    tier: Literal["basic", "gold"]
    country: str
    since: date


@dataclass
class Item:
    name: str
    quantity: int
    price: float


@dataclass
class Order:
    id: str
    customer: Customer
    items: list[Item]


ADA = Customer("Ada Lindqvist", "gold", "SE", date(2021, 3, 14))
BRAM = Customer("Bram de Wit", "basic", "NL", date(2024, 11, 2))
CHIARA = Customer("Chiara Ricci", "gold", "IT", date(2019, 6, 30))
EINAR = Customer("Einar Jónsson", "basic", "IS", date(2025, 1, 9))

MACHINE = Item("espresso machine", 2, 540.0)
GRINDER = Item("coffee grinder", 1, 129.0)
KETTLE = Item("kettle", 1, 59.0)
CUPS = Item("set of six cups", 2, 24.5)

ORDERS = {
    order.id: order
    for order in (
        Order("order-4407", CHIARA, [KETTLE, GRINDER, CUPS]),
        Order("order-4409", BRAM, [KETTLE]),
        Order("order-4410", CHIARA, [MACHINE, CUPS]),
        Order("order-4411", ADA, [CUPS]),
        Order("order-4412", ADA, [MACHINE, GRINDER, CUPS]),
        Order("order-4413", BRAM, [MACHINE]),
        Order("order-4414", EINAR, [KETTLE, CUPS]),
        Order("order-4415", BRAM, [GRINDER, CUPS]),
    )
}
WAREHOUSE = {"espresso machine": 7, "coffee grinder": 31, "kettle": 112, "set of six cups": 64}
RISK_BY_COUNTRY = {"SE": 0.1, "NL": 0.1, "IT": 0.2}
CARRIERS = {"SE": "PostNord", "NL": "PostNL", "IT": "BRT", "IS": "Pósturinn"}
DISCOUNT = {"basic": 0.0, "gold": 0.05}
REVIEW_ABOVE = 1_000.0
"""Orders of more than this wait for a person."""


def carrier_for(country: str) -> str:
    return CARRIERS[country]


# --- The state ----------------------------------------------------------------------------------


class Refund(TypedDict):
    item: str
    amount: float
    because: str


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    wish: Literal["question", "order", "return"]
    order: Order
    in_stock: dict[str, int]
    risk: float
    total: float
    path: Literal["express", "review"]
    released: bool
    refunds: Annotated[list[Refund], operator.add]
    shipment: dict[str, Any]


# --- The model and its tools --------------------------------------------------------------------


@tool
def look_up_order(order_id: str) -> str:
    """What is in an order, and what it costs."""
    order = ORDERS[order_id]
    lines = [f"{item.quantity} × {item.name} at {item.price:.2f}" for item in order.items]
    return f"{order.id} of {order.customer.name}: " + "; ".join(lines)


@tool
def delivery_time(country: str) -> str:
    """How long a parcel takes to a country."""
    days = {"SE": "1 to 2", "NL": "2", "IT": "3 to 4"}.get(country, "5 to 8")
    return f"{carrier_for(country)} takes {days} working days to {country}."


TOOLS: dict[str, BaseTool] = {t.name: t for t in (look_up_order, delivery_time)}


class ScriptedModel(BaseChatModel):
    """Stands where a real chat model would: asks for the tools that help, then answers.

    A real one goes in as `model = ChatAnthropic(model=…).bind_tools(list(TOOLS.values()))`.
    """

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = script(messages)
        # Numbered, so that a replay makes the same ids again.
        answer.id = f"ai-{len(messages)}"
        for number, call in enumerate(answer.tool_calls):
            call["id"] = f"call-{len(messages)}-{number}"
        read = sum(len(str(message.content).split()) for message in messages)
        wrote = len(str(answer.content).split()) + 12 * len(answer.tool_calls)
        answer.usage_metadata = UsageMetadata(
            input_tokens=read, output_tokens=wrote, total_tokens=read + wrote
        )
        return ChatResult(generations=[ChatGeneration(message=answer)])


def script(messages: Sequence[BaseMessage]) -> AIMessage:
    """What the model says next."""
    last = messages[-1]
    if isinstance(last, ToolMessage):
        found = [m.content for m in messages if isinstance(m, ToolMessage)]
        return AIMessage(f"Here is what I found. {found[-1]}")
    question = str(last.content).lower()
    order_id = find_order_id(messages)
    if "when" in question or "arrive" in question:
        country = ORDERS[order_id].customer.country
        call: dict[str, Any] = {"name": "delivery_time", "args": {"country": country}, "id": ""}
        return AIMessage("Let me ask the carrier.", tool_calls=[call])
    if "thank" in question:
        return AIMessage("You are welcome. Enjoy your coffee!")
    call = {"name": "look_up_order", "args": {"order_id": order_id}, "id": ""}
    return AIMessage(f"I look up {order_id}.", tool_calls=[call])


def find_order_id(messages: Sequence[BaseMessage]) -> str:
    """The order that was named last."""
    for message in reversed(messages):
        if named := re.search(r"order-\d+", str(message.content)):
            return named[0]
    raise LookupError("no message names an order")


model = ScriptedModel()


# --- Nodes --------------------------------------------------------------------------------------


def receive(state: State) -> State:
    """What is wanted, and for which order."""
    text = str(state["messages"][-1].content).lower()
    wish: Literal["question", "order", "return"] = "question"
    if "send back" in text:
        wish = "return"
    elif "please ship" in text:
        wish = "order"
    return {"wish": wish, "order": ORDERS[find_order_id(state["messages"])]}


def assist(state: State) -> State:
    return {"messages": [model.invoke(state["messages"])]}


def tools(state: State) -> State:
    """What `langgraph.prebuilt.ToolNode` does, but with message ids that a replay makes again."""
    last = state["messages"][-1]
    assert isinstance(last, AIMessage)
    results: list[AnyMessage] = []
    for call in last.tool_calls:
        result: ToolMessage = TOOLS[call["name"]].invoke(call)
        result.id = f"tool-{call['id']}"
        results.append(result)
    return {"messages": results}


def after_assist(state: State) -> str | list[str] | list[Send]:
    """Tools as long as the model asks for them; then whatever the wish needs."""
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and last.tool_calls:
        return "tools"
    if state["wish"] == "order":
        return ["stock", "fraud"]
    if state["wish"] == "return":
        return [Send("inspect", {"item": item}) for item in state["order"].items]
    return END


def stock(state: State) -> State:
    return {"in_stock": {item.name: WAREHOUSE[item.name] for item in state["order"].items}}


def fraud(state: State) -> State:
    """The risk that the order is not what it seems, 0 to 1."""
    order = state["order"]
    if order.customer.country not in RISK_BY_COUNTRY:
        raise LookupError(f"no risk table for country {order.customer.country!r}")
    risk = RISK_BY_COUNTRY[order.customer.country]
    if any(item.price > 500 and item.quantity > 1 for item in order.items):
        risk += 0.4
    return {"risk": round(risk, 2)}


def price(state: State) -> State:
    """Runs once both checks are in: the total, and the path that the order takes."""
    order = state["order"]
    total = sum(item.price * item.quantity for item in order.items)
    total = round(total * (1 - DISCOUNT[order.customer.tier]), 2)
    return {"total": total, "path": "review" if total > REVIEW_ABOVE else "express"}


def ship_or_hold(state: State) -> Literal["ship", "hold"]:
    return "hold" if state["path"] == "review" else "ship"


def hold(state: State) -> State:
    """Waits for a person."""
    answer = interrupt(
        {
            "question": f"Release {state['order'].id} for {state['total']:.2f}?",
            "risk": state["risk"],
        }
    )
    return {"released": answer == "yes"}


def ship_if_released(state: State) -> Literal["ship", "notify"]:
    return "ship" if state["released"] else "notify"


class InspectState(TypedDict):
    item: Item


def inspect(state: InspectState) -> State:
    """One returned item; runs once for each, in parallel."""
    item = state["item"]
    worn = item.name == "coffee grinder"
    share, because = (0.5, "signs of use") if worn else (1.0, "as new")
    amount = round(item.price * item.quantity * share, 2)
    return {"refunds": [{"item": item.name, "amount": amount, "because": because}]}


def refund(state: State) -> State:
    return {"total": -round(sum(entry["amount"] for entry in state["refunds"]), 2)}


def notify(state: State) -> State:
    order = state["order"]
    if state["wish"] == "return":
        text = f"We refund {-state['total']:.2f} for {order.id}."
    elif "shipment" in state:
        shipment = state["shipment"]
        text = f"{order.id} is on its way with {shipment['carrier']}: {shipment['tracking']}."
    else:
        text = f"We could not release {order.id}. A colleague will call you."
    return {"messages": [AIMessage(text, id=f"ai-{len(state['messages'])}")]}


# --- Shipping: a graph of its own, used as one node ---------------------------------------------


class Shipping(TypedDict, total=False):
    order: Order
    boxes: list[list[str]]
    parcels: Annotated[list[str], operator.add]
    shipment: dict[str, Any]


class PackState(TypedDict):
    label: str
    box: list[str]


def split(state: Shipping) -> Shipping:
    """Large things travel alone, small ones share a box."""
    boxes: list[list[str]] = []
    small = []
    for item in state["order"].items:
        if item.price > 500:
            boxes += [[item.name]] * item.quantity
        else:
            small.append(f"{item.quantity} × {item.name}")
    return {"boxes": [*boxes, small] if small else boxes}


def one_task_a_box(state: Shipping) -> list[Send]:
    labels = [f"{state['order'].id}/{n}" for n in range(1, len(state["boxes"]) + 1)]
    return [
        Send("pack", PackState(label=label, box=box))
        for label, box in zip(labels, state["boxes"], strict=True)
    ]


def pack(state: PackState) -> Shipping:
    return {"parcels": [f"{state['label']}: {', '.join(state['box'])}"]}


def book(state: Shipping) -> Shipping:
    order = state["order"]
    carrier = carrier_for(order.customer.country)
    tracking = f"{carrier[:2].upper()}-{order.id[-4:]}-{len(state['parcels'])}"
    return {"shipment": {"carrier": carrier, "tracking": tracking, "parcels": state["parcels"]}}


shipping = StateGraph(Shipping)
shipping.add_node(split)
shipping.add_node(pack)
shipping.add_node(book)
shipping.add_edge(START, "split")
shipping.add_conditional_edges("split", one_task_a_box, ["pack"])
shipping.add_edge("pack", "book")
shipping.add_edge("book", END)


# --- The graph ----------------------------------------------------------------------------------

builder = StateGraph(State)
builder.add_node(receive)
builder.add_node(assist)
builder.add_node(tools)
builder.add_node(stock)
builder.add_node(fraud)
builder.add_node(price)
builder.add_node(hold)
builder.add_node("ship", shipping.compile())
builder.add_node(inspect)
builder.add_node(refund)
builder.add_node(notify)

builder.add_edge(START, "receive")
builder.add_edge("receive", "assist")
builder.add_conditional_edges("assist", after_assist, ["tools", "stock", "fraud", "inspect", END])
builder.add_edge("tools", "assist")
builder.add_edge(["stock", "fraud"], "price")
builder.add_conditional_edges("price", ship_or_hold)
builder.add_conditional_edges("hold", ship_if_released)
builder.add_edge("ship", "notify")
builder.add_edge("inspect", "refund")
builder.add_edge("refund", "notify")
builder.add_edge("notify", END)

graph = builder.compile()
"""Without a checkpointer: whoever runs it brings one."""
