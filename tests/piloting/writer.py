"""Writes a thread with a real LangGraph, a run for each line on stdin: a process of its own.

Usage: `python writer.py STORE THREAD`. Each line is the text of an input; after the run the text
is written back. An empty line ends it.
"""

from __future__ import annotations

import sys
from operator import add
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    said: Annotated[list[str], add]


def main() -> None:
    store, thread = sys.argv[1:]
    builder = StateGraph(State)
    builder.add_node("hear", lambda state: {"said": [f"heard {state['said'][-1]}"]})
    builder.add_edge(START, "hear")
    builder.add_edge("hear", END)
    with SqliteSaver.from_conn_string(store) as saver:
        graph = builder.compile(checkpointer=saver)
        for line in sys.stdin:
            text = line.strip()
            if not text:
                return
            graph.invoke({"said": [text]}, {"configurable": {"thread_id": thread}})
            print(text, flush=True)


main()
