"""The inspector's tabs, by title, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from retrograph.tui.widgets.inspector import TabMaker
from retrograph.tui.widgets.state import StateTab

TABS: Mapping[str, TabMaker] = {
    "State": StateTab,
}
