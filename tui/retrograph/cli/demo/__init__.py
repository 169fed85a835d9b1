"""The demo: a small shop's support agent, and the threads that it left behind.

`project/` is what ends up beside the store: the graph and its langgraph.json. `writer/` runs that
graph for real, in a process of its own, since nothing here may import LangGraph.
"""

from __future__ import annotations

from retrograph.cli.demo.make import DemoInfo, default_folder, make_demo

__all__ = ["DemoInfo", "default_folder", "make_demo"]
