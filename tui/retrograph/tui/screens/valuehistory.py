"""The history of a value over the screen: who set it, when, and to what; picking one goes there."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from retrograph.engine.text import cut, escape, local
from retrograph.tui.messages import ReadingFailed, ValueSettingFound, WorkEnded
from retrograph.tui.reading.settings import Setting
from retrograph.tui.screens.dialog import Dialog
from retrograph.tui.spans import Line, Span, columns, pad
from retrograph.tui.ui import Ui
from retrograph.tui.work import Job, Reads

_WHO = 24


class ValueHistory(Reads, Dialog[tuple[str, str]]):
    """The result is (namespace, id) of the checkpoint that was picked."""

    def __init__(self, ui: Ui, pointer: str, read: Callable[[Job], Message]) -> None:
        super().__init__(ui, f"history of {escape(cut(pointer, 80))}")
        self._job = read
        self._settings: list[Setting] = []
        self._said = "looking"

    def on_mount(self) -> None:
        self._show()
        self.read("settings", self._job)

    def on_value_setting_found(self, message: ValueSettingFound) -> None:
        self._settings.append(message.setting)
        self._show()

    def on_work_ended(self, _: WorkEnded) -> None:
        count = len(self._settings)
        said = f"Set {count:,} time{'' if count == 1 else 's'} on this line"
        if any(not setting.certain for setting in self._settings):
            said += "; one that was taken back between two looks may be missing"
        self._said = said + "."
        self._show()

    def on_reading_failed(self, message: ReadingFailed) -> None:
        message.stop()
        self._said = message.sentence
        self._show()

    def _show(self) -> None:
        who = min(max((columns(s.who) for s in self._settings), default=0), _WHO)
        lines: list[Line] = [_line(setting, who) for setting in self._settings]
        lines += [[], [Span(self._said, "dim")]]
        self.rows.set_lines(lines, cursor=self.rows.cursor)

    def pick(self, row: int) -> None:
        if row < len(self._settings):
            self.dismiss((self._settings[row].ns, self._settings[row].id))


def _line(setting: Setting, who: int) -> Line:
    step = "" if setting.step is None else str(setting.step)
    at = local(setting.at, "%H:%M:%S") if setting.at is not None else ""
    return [
        Span(f"{step:>5}  ", "dim"),
        *pad([Span(setting.who, "strong")], who),
        Span(f"  {at}  ", "faint"),
        Span(setting.value, "string" if setting.text else "number"),
    ]
