"""The State tab: the values of a checkpoint as a tree, with what changed since the parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograph.tui.messages import ValueHistoryWanted
from retrograph.tui.widgets.outline import OutlineRows

if TYPE_CHECKING:
    from retrograph.tui.reading.inspected import Inspected


class StateTab(OutlineRows):
    """The state's channels; at an input that has not run, the input itself."""

    SCOPES = ("move", "state", "value")

    def show(self, inspected: Inspected | None) -> None:
        if inspected is None:
            self.load({})
            return
        from retrograph.tui.reading.inspected import state_of

        before = state_of(inspected.parent) if inspected.parent is not None else None
        if inspected.unreadable:
            self.say_empty(inspected.unreadable, "failed")
        else:
            self.say_empty("" if inspected.values else "No channel has a value here.")
        self.load(inspected.values, before, inspected.changed)

    def action_value_pager(self) -> None:
        if self.row_count:
            from retrograph.tui.pager import page
            from retrograph.tui.reading.copies import value_text

            page(self.app, value_text(self._outline.value(self._outline.node(self.cursor))))

    def action_value_history(self) -> None:
        if self.row_count:
            self.post_message(ValueHistoryWanted(self.pointer))
