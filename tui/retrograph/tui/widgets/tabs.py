"""The inspector's tabs, by title, in their order; each is imported when it is first shown."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from textual.widget import Widget

from retrograph.tui.ui import Ui
from retrograph.tui.widgets.inspector import TabMaker


def _later(module: str, name: str) -> TabMaker:
    def make(ui: Ui) -> Widget:
        made: Widget = getattr(import_module(f"retrograph.tui.widgets.{module}"), name)(ui)
        return made

    return make


TABS: Mapping[str, TabMaker] = {
    "State": _later("state", "StateTab"),
    "Diff": _later("diff", "DiffTab"),
    "Messages": _later("messages", "MessagesTab"),
    "Writes": _later("writes", "WritesTab"),
    "Graph": _later("graph", "GraphTab"),
    "Info": _later("info", "InfoTab"),
}
