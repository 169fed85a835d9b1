"""The inspector's tabs, by title, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from retrograph.tui.widgets.diff import DiffTab
from retrograph.tui.widgets.graph import GraphTab
from retrograph.tui.widgets.info import InfoTab
from retrograph.tui.widgets.inspector import TabMaker
from retrograph.tui.widgets.messages import MessagesTab
from retrograph.tui.widgets.state import StateTab
from retrograph.tui.widgets.writes import WritesTab

TABS: Mapping[str, TabMaker] = {
    "State": StateTab,
    "Diff": DiffTab,
    "Messages": MessagesTab,
    "Writes": WritesTab,
    "Graph": GraphTab,
    "Info": InfoTab,
}
