"""Stored text made safe to draw, and numbers made short to read.

Everything that came out of a store and goes to a screen or to stderr passes through `escape`:
afterwards it holds no control character, so it cannot move the cursor, change colours, ring,
reverse the line (bidirectional controls) or break the encoding (lone surrogates).
"""

from __future__ import annotations

from datetime import UTC, datetime
from unicodedata import category, combining

_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_JOINERS = "\u200c\u200d"  # needed inside Persian words and emoji, harmless between such letters
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Cn", "Zl", "Zp"))


def escape(text: str) -> str:
    r"""`text` in one line with every invisible or dangerous character as `\n`, `\x1b`, `\u202e`.

    A combining mark at the very start is escaped too, since it would sit on what is drawn
    before it. Letters of every script, spaces and private-use symbols stay.
    """
    if text.isprintable() and not (text and combining(text[0])):
        return text
    out = [
        character if _harmless(text, i, character) else visible(character)
        for i, character in enumerate(text)
    ]
    return "".join(out)


def _harmless(text: str, i: int, character: str) -> bool:
    if character.isprintable():
        return not (i == 0 and combining(character))
    if character in _JOINERS:
        return 0 < i < len(text) - 1 and text[i - 1] > "\x7f" and text[i + 1] > "\x7f"
    return category(character) not in _HIDDEN


def visible(character: str) -> str:
    r"""One character as its escape: `\n`, `\x1b`, `\u202e`, `\U000e0001`."""
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, the last one `…` where it was longer."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def size(count: int) -> str:
    """Bytes for people: `812 B`, `9.1 KB`, `80 MB`."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """A span of time for people: `12 ms`, `3.4 s`, `2 min 5 s`, `2 h 10 min`, `3 d 4 h`."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    for (unit, length), (small, part) in _PAIRS:
        if whole >= length:
            rest = whole % length // part
            return f"{whole // length} {unit}" + (f" {rest} {small}" if rest else "")
    raise AssertionError(whole)


_PAIRS = (
    (("d", 86_400), ("h", 3600)),
    (("h", 3600), ("min", 60)),
    (("min", 60), ("s", 1)),
)


def ago(when: datetime, now: datetime) -> str:
    """How long before `now`: `just now`, `40 s ago`, `2 min ago`, `5 h ago`, `3 d ago`, and
    beyond 30 days the date."""
    seconds = (now - when).total_seconds()
    if seconds < -60:
        return f"in {duration(-seconds)}"
    if seconds < 5:
        return "just now"
    if seconds < 60:
        return f"{seconds:.0f} s ago"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min ago"
    if seconds < 86_400:
        return f"{seconds // 3600:.0f} h ago"
    if seconds < 30 * 86_400:
        return f"{seconds // 86_400:.0f} d ago"
    return local(when, "%Y-%m-%d")


def iso(when: datetime) -> str:
    """ISO 8601 in UTC as LangGraph writes it: `2026-01-05T12:01:03.250000+00:00`."""
    return when.astimezone(UTC).isoformat(timespec="microseconds")


def local(when: datetime, form: str) -> str:
    """`when` in the machine's time zone in `strftime`'s form; in UTC where it has no such day."""
    try:
        return when.astimezone().strftime(form)
    except (OverflowError, ValueError, OSError):
        return when.strftime(form)
