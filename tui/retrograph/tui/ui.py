"""What all screens and widgets are given: keys, glyphs, and how values are hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrograph.tui.keymap import Keys

if TYPE_CHECKING:
    from retrograph.engine.tree.labels import Signs
    from retrograph.engine.tree.lanes import Glyphs


class Ui(NamedTuple):
    """How the app talks to its user; fixed when it starts."""

    keys: Keys
    ascii: bool = False
    """Only characters that every terminal has."""

    @property
    def signs(self) -> Signs:
        from retrograph.engine.tree import labels

        return labels.ASCII if self.ascii else labels.UNICODE

    @property
    def glyphs(self) -> Glyphs:
        from retrograph.engine.tree import lanes

        return lanes.ASCII if self.ascii else lanes.UNICODE

    @property
    def cut(self) -> str:
        """The sign that something was left out, of one column."""
        return "~" if self.ascii else "…"

    @property
    def dot(self) -> str:
        """A separator between facts of one line, with its blanks."""
        return " - " if self.ascii else " · "
