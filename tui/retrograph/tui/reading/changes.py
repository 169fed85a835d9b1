"""Which rows of a state are not as they were: added, changed, or the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from retrograph.engine.values import ABSENT, Value, children, equal
from retrograph.engine.views.outline import Outline

Status = Literal["", "added", "changed"]


class Changes:
    """The rows of an outline of channels against the same channels before; told row by row."""

    def __init__(
        self, outline: Outline, before: Mapping[str, Any] | None, channels: Mapping[str, str]
    ) -> None:
        """`before`: the channels at the parent, `None` without one. `channels`: those that are
        "added" or "changed"."""
        self._outline = outline
        self._before = before
        self._channels = channels
        self._told: dict[tuple[object, ...], tuple[Status, Value]] = {}

    def of(self, node: int) -> tuple[Status, Value]:
        """The status of a node, and what stood there before (`ABSENT` where nothing did)."""
        return self._tell(self._outline.path(node), self._outline.value(node))

    def _tell(self, path: tuple[object, ...], value: Value) -> tuple[Status, Value]:
        if self._before is None or not path:
            return "", ABSENT
        told = self._told.get(path)
        if told is None:
            told = self._told[path] = self._compare(path, value)
        return told

    def _compare(self, path: tuple[object, ...], value: Value) -> tuple[Status, Value]:
        assert self._before is not None
        if len(path) == 1:
            status: Status = "changed" if path[0] in self._channels else ""
            before = self._before.get(str(path[0]), ABSENT)
            return ("added" if before is ABSENT else status), before
        status, above = self._above(path[:-1])
        if status != "changed":
            return status, ABSENT
        before = _child(above, path[-1])
        if before is ABSENT:
            return "added", ABSENT
        return ("" if equal(before, value) else "changed"), before

    def _above(self, path: tuple[object, ...]) -> tuple[Status, Value]:
        told = self._told.get(path)
        if told is not None:
            return told
        # The row above was not drawn yet: what it holds is found from the top.
        value: Value = self._outline.value(0)
        for key in path:
            value = _child(value, key)
        return self._tell(path, value)


def _child(value: Value, key: object) -> Value:
    if isinstance(value, dict):
        return value.get(key, ABSENT)
    if isinstance(value, (list, tuple)):
        return value[key] if isinstance(key, int) and key < len(value) else ABSENT
    if value is ABSENT:
        return ABSENT
    return next((child for name, child in children(value) if name == key), ABSENT)
