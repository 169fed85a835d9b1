"""The list of threads."""

from __future__ import annotations

from retrograph.tui.screens.base import BaseScreen


class ThreadsScreen(BaseScreen):
    """The threads of a source."""

    SCOPES = ("threads", "app")
