"""The messages of a state as a conversation: who said what, calls beside their results."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from retrograph.engine.text import escape
from retrograph.engine.values import Delta, Value, is_message, message_fields
from retrograph.engine.views.summary import message_text, one_line
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Line

Markdown = Callable[[str, int], list[Line]]

FOLDED = 6
"""Lines of a text that show while it is folded."""
_ARGUMENTS = 300
_RESULT = 3


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, with what came back."""

    name: str
    arguments: str
    """`order_id="4412", force=true`; escaped."""
    result: str | None
    """`None` while there is none."""
    failed: bool


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation."""

    index: int
    """Its place in the channel."""
    role: str
    name: str
    text: str
    calls: tuple[Call, ...]
    new: bool
    """It was not there at the parent."""


def conversations(values: Mapping[str, Any]) -> list[str]:
    """The channels that hold messages."""
    return [channel for channel, value in values.items() if _messages(value)]


def _messages(value: Value) -> Sequence[Value]:
    """The messages of a channel; of a DeltaChannel those of its snapshot and writes."""
    if isinstance(value, Delta):
        parts = [value.snapshot, *value.writes]
        return [m for part in parts for m in (_messages(part) or [part]) if is_message(m)]
    if isinstance(value, (list, tuple)):
        return value if value and is_message(value[0]) else ()
    return ()


def conversation(value: Value, before: Value) -> list[Said]:
    """The messages of a channel in order; a tool's answer stands at the call that it answers."""
    messages = _messages(value)
    known = {_key(message) for message in _messages(before)}
    results: dict[str, Value] = {}
    called: set[str] = set()
    for message in messages:
        fields = message_fields(message)
        if fields.get("type") == "tool" and isinstance(fields.get("tool_call_id"), str):
            results[fields["tool_call_id"]] = message
        called.update(i for call in _calls(fields) if isinstance(i := call.get("id"), str))
    found = []
    for index, message in enumerate(messages):
        fields = message_fields(message)
        if fields.get("type") == "tool" and fields.get("tool_call_id") in called:
            continue
        found.append(
            Said(
                index=index,
                role=str(fields.get("type") or "message"),
                name=_text(fields.get("name")),
                text=message_text(message) or _other_content(fields),
                calls=tuple(_call(call, results) for call in _calls(fields)),
                new=_key(message) not in known,
            )
        )
    return found


def _key(message: Value) -> object:
    fields = message_fields(message)
    own = fields.get("id")
    return own if isinstance(own, str) else (fields.get("type"), message_text(message)[:200])


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _other_content(fields: Mapping[str, Any]) -> str:
    """Content that is no text: images and the like, each in a line."""
    content = fields.get("content")
    if isinstance(content, list):
        return "\n".join(one_line(block, 120) for block in content)
    return "" if content in (None, "") else one_line(content, 120)


def _calls(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = fields.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _call(call: Mapping[str, Any], results: Mapping[str, Value]) -> Call:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
    arguments = inner.get("args", inner.get("arguments"))
    if isinstance(arguments, dict):
        said = ", ".join(
            f"{escape(str(key))}={one_line(value, 60)}" for key, value in arguments.items()
        )
    else:
        said = "" if arguments is None else one_line(arguments, _ARGUMENTS)
    call_id = call.get("id")
    answer = results.get(call_id) if isinstance(call_id, str) else None
    return Call(
        name=_text(inner.get("name")) or "?",
        arguments=said,
        result=None if answer is None else message_text(answer) or "(empty)",
        failed=answer is not None and message_fields(answer).get("status") == "error",
    )


Role = Literal["", "call", "result", "failed", "none", "more", "markdown"]


class BodyLine(NamedTuple):
    """A line below a message's head; its text is not escaped."""

    role: Role
    """"": of the message's text. A call; its result; a result that is an error; that there is none
    yet; how much was left out; a line of the text as Markdown."""
    text: str
    more: str = ""
    """Of a call its arguments (escaped); of what was left out the role of the text."""
    spans: Line = ()
    """Of Markdown the line itself."""


class Pages:
    """Which line of the conversation belongs to which message; four bytes a message."""

    def __init__(
        self,
        said: Sequence[Said],
        width: int,
        opened: frozenset[int],
        all_: bool,
        as_markdown: Markdown | None = None,
    ) -> None:
        """`opened`: places of the messages that are unfolded, `all_`: all of them are.
        `as_markdown`: what makes lines of so many columns of a text, else it is shown as it is."""
        self.said = said
        self.width = width
        self.opened = opened
        self.all = all_
        self._markdown = as_markdown
        self._drawn: dict[int, list[Line]] = {}
        counts = (1 + len(self.body(k)) + 1 for k in range(len(said)))
        self._ends = array("l", accumulate(counts))

    def __len__(self) -> int:
        """Lines; the blank one after the last message does not count."""
        return max(self._ends[-1] - 1, 0) if self._ends else 0

    def at(self, line: int) -> tuple[int, int]:
        """(message, line in it) of a line: 0 is the message's head, the last one is blank."""
        k = bisect_right(self._ends, line)
        return k, line - (self._ends[k - 1] if k else 0)

    def first(self, k: int) -> int:
        """The line with the head of a message."""
        return self._ends[k - 1] if k else 0

    def unfolded(self, k: int) -> bool:
        return self.all or self.said[k].index in self.opened

    def body(self, k: int) -> list[BodyLine]:
        """The lines below a message's head."""
        said = self.said[k]
        whole = self.unfolded(k)
        if self._markdown is None:
            lines = self._lines("", said.text, None if whole else FOLDED, 2)
        else:
            lines = self._rendered(k, None if whole else FOLDED)
        for call in said.calls:
            lines.append(BodyLine("call", call.name, call.arguments))
            if call.result is None:
                lines.append(BodyLine("none", "no result yet"))
            else:
                role: Role = "failed" if call.failed else "result"
                lines += self._lines(role, call.result, None if whole else _RESULT, 6)
        return lines

    def _rendered(self, k: int, most: int | None) -> list[BodyLine]:
        """The lines of a message's text as Markdown; made once."""
        assert self._markdown is not None
        if k not in self._drawn:
            text = self.said[k].text
            self._drawn[k] = self._markdown(text, max(self.width - 2, 16)) if text else []
        drawn = self._drawn[k]
        if most is None or len(drawn) <= most:
            return [BodyLine("markdown", "", spans=line) for line in drawn]
        shown = [BodyLine("markdown", "", spans=line) for line in drawn[: most - 1]]
        return [*shown, BodyLine("more", f"{len(drawn) - most + 1:,} more lines")]

    def _lines(self, role: Role, text: str, most: int | None, indent: int) -> list[BodyLine]:
        width = max(self.width - indent, 16)
        if not text:
            return []
        head = text if most is None else text[: width * (most + 2)]
        wrapped = Wrapped(head, width)
        # One line above the most stays: to say that there is more takes a line, too.
        if most is None or (len(wrapped) <= most + 1 and len(head) == len(text)):
            return [BodyLine(role, wrapped.line(k)) for k in range(len(wrapped))]
        shown = [wrapped.line(k) for k in range(min(most - 1, len(wrapped)))]
        left = len(text) - sum(map(len, shown))
        return [
            *(BodyLine(role, line) for line in shown),
            BodyLine("more", f"{left:,} more characters", role),
        ]
