"""The Messages tab: the conversation, tool calls beside their results, long texts folded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import events
from textual.message import Message

from retrograph.engine.text import escape
from retrograph.engine.views.summary import message_text
from retrograph.tui.messages import ConversationMade, ReadingFailed, TextOpened
from retrograph.tui.reading.conversation import Pages, conversation, conversations
from retrograph.tui.reading.copies import Copy, value_copies
from retrograph.tui.reading.inspected import Inspected, state_of
from retrograph.tui.reading.markdown import markdown
from retrograph.tui.spans import Span, spread
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows
from retrograph.tui.work import Job, Reads

_ROLES = {"human": "strong", "ai": "accent strong", "system": "class", "tool": "dim"}
_BODY = {"": "", "result": "dim", "failed": "failed", "none": "waits"}


class MessagesTab(Reads, Rows):
    """Lines of the messages of one channel."""

    SCOPES = ("move", "messages")

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)
        self._inspected: Inspected | None = None
        self._pages: Pages | None = None
        self._opened: frozenset[int] = frozenset()
        self._all = False
        self._markdown = False
        self._channels: list[str] = []
        self._channel = ""

    def show(self, inspected: Inspected | None) -> None:
        self._inspected = inspected
        self._channels = conversations(inspected.values) if inspected is not None else []
        if self._channel not in self._channels:
            self._channel = self._channels[0] if self._channels else ""
        self._arrange(to_end=True)

    def on_resize(self, _: events.Resize) -> None:
        if self._pages is None or self._pages.width != self._columns:
            self._arrange(to_end=self._pages is None)

    @property
    def _columns(self) -> int:
        return self.scrollable_content_region.width

    def _arrange(self, to_end: bool = False) -> None:
        """Make the lines again, off the screen's thread."""
        inspected, channel = self._inspected, self._channel
        if inspected is None or not channel:
            self._pages = None
            if inspected is not None and inspected.unreadable:
                self.say_empty(inspected.unreadable, "failed")
            else:
                self.say_empty("No channel holds messages here." if inspected is not None else "")
            self.rows_changed(cursor=0)
            return
        width, opened, every = self._columns, self._opened, self._all
        rendered = partial(markdown, ascii=self.ui.ascii) if self._markdown else None
        if not width:
            return  # not laid out yet: it comes again with its size
        value = inspected.values[channel]
        before: Any = state_of(inspected.parent).get(channel) if inspected.parent else None

        def work(job: Job) -> Message:
            pages = Pages(conversation(value, before), width, opened, every, rendered)
            return ConversationMade(pages, to_end, job.ticket)

        self.read("conversation", work)

    def on_conversation_made(self, message: ConversationMade) -> None:
        message.stop()
        if not self.newest("conversation", message.ticket):
            return
        before, self._pages = self._pages, message.pages
        if message.to_end or before is None:
            self.rows_changed(cursor=max(len(message.pages) - 1, 0))
            return
        k, _ = before.at(self.cursor)
        offset = before.first(k) - self.scroll_offset.y
        line = message.pages.first(min(k, len(message.pages.said) - 1))
        self.rows_changed(cursor=line, top=line - offset)

    def on_reading_failed(self, message: ReadingFailed) -> None:
        message.stop()
        self._pages = None
        self.say_empty(message.sentence, "failed")
        self.rows_changed(cursor=0)

    # Drawing.

    @property
    def row_count(self) -> int:
        return len(self._pages) if self._pages is not None else 0

    def paint(self, row: int, width: int) -> Iterable[Span]:
        pages = self._pages
        assert pages is not None
        k, line = pages.at(row)
        said = pages.said[k]
        if line == 0:
            left = [Span(escape(said.role), _ROLES.get(said.role, "strong"))]
            if said.name:
                left.append(Span(f" {escape(said.name)}", "dim"))
            right = [Span("new  ", "done")] if said.new else []
            return spread(left, [*right, Span(f"[{said.index}]", "faint")], width, self.ui.cut)
        body = pages.body(k)
        if line > len(body):
            return ()
        role, text, more, rendered = body[line - 1]
        if role == "markdown":
            return [Span("  "), *rendered]
        signs = self.ui.signs
        if role == "call":
            return [
                Span(f"  {signs.arrow} ", "dim"),
                Span(escape(text), "fork"),
                Span(f"({more})", "string"),
            ]
        if role == "more":
            return [Span(f"{'      ' if more else '  '}{signs.cut} {text}", "faint")]
        return [Span(f"{'      ' if role else '  '}{escape(text)}", _BODY[role])]

    @property
    def place(self) -> str:
        if self._pages is None or not self.row_count:
            return ""
        k, _ = self._pages.at(self.cursor)
        return f"/{escape(self._channel)}/{self._pages.said[k].index}"

    def copies(self) -> list[Copy]:
        value = self._selected()
        if value is None or self._pages is None:
            return []
        index = self._pages.said[self._pages.at(self.cursor)[0]].index
        text = Copy("m", "message's text", lambda: message_text(value))
        return [text, *value_copies((self._channel, index), value)]

    def _selected(self) -> Any:
        if self._inspected is None or self._pages is None or not self.row_count:
            return None
        index = self._pages.said[self._pages.at(self.cursor)[0]].index
        value = self._inspected.values[self._channel]
        return value[index] if isinstance(value, (list, tuple)) else None

    # Actions.

    def action_messages_unfold(self) -> None:
        if self._pages is None or not self.row_count:
            return
        index = self._pages.said[self._pages.at(self.cursor)[0]].index
        self._opened = self._opened ^ {index}
        self._arrange()

    def action_messages_unfold_all(self) -> None:
        self._all = not self._all
        self._arrange()

    def action_messages_read(self) -> None:
        if self._pages is not None and self.row_count:
            said = self._pages.said[self._pages.at(self.cursor)[0]]
            results = [f"{call.name}: {call.result}" for call in said.calls if call.result]
            text = "\n\n".join([said.text, *results]).strip()
            self.post_message(TextOpened(self.place, text, self._markdown))

    def action_messages_markdown(self) -> None:
        self._markdown = not self._markdown
        self._arrange()

    def action_messages_channel(self) -> None:
        if len(self._channels) > 1:
            now = self._channels.index(self._channel)
            self._channel = self._channels[(now + 1) % len(self._channels)]
            self._opened = frozenset()
            self._arrange(to_end=True)
