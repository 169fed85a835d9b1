"""Which words of a text changed.

Spans are (sign, text): " " unchanged, "-" only in the old text, "+" only in the new one. The old
text is what " " and "-" give in order, the new one what " " and "+" give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from retrograph.engine.diff.sequence import align

Sign: TypeAlias = Literal[" ", "-", "+"]
Span: TypeAlias = tuple[Sign, str]

# A word, a stretch of white space, or one other sign. Scripts without spaces: one character each.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\s+|[^\w\s]")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")

_BY_WORD: Final = 40_000
"""Longer texts (in characters, without what is equal at both ends) are compared by lines, and
only the lines that changed by words."""

_AT_ALL: Final = 400_000
"""Changed lines longer than that are replaced whole."""


def word_diff(old: str, new: str) -> list[Span] | None:
    """The spans from one text to another; `None` where no word of them is the same, or what differs
    is too long (400,000 characters between line breaks that are the same)."""
    spans = _spans(old, new)
    return spans if any(sign == " " and text.strip() for sign, text in spans) else None


def shorten(spans: Iterable[Span], keep: int = 40) -> list[Span]:
    """Spans with the middle of long unchanged ones cut: `keep` characters stay beside each
    change, the others become ` … `. For looking at: the texts cannot be put together again."""
    spans = list(spans)
    out: list[Span] = []
    for k, (sign, text) in enumerate(spans):
        if sign == " ":
            before = keep if k else 0
            after = keep if k < len(spans) - 1 else 0
            if len(text) > before + after + 3:
                text = f"{text[:before]} … {text[len(text) - after :]}"
        out.append((sign, text))
    return out


def _spans(old: str, new: str) -> list[Span]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    head, tail = _at_words(old, new, head, tail)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    middle = _by_lines(a, b) if len(a) + len(b) > _BY_WORD else _by_words(a, b)
    return _merged([(" ", old[:head]), *middle, (" ", old[len(old) - tail :])])


def _common(a: str, b: str) -> int:
    """Length of the common beginning, by halving: slices compare at C speed."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _at_words(old: str, new: str, head: int, tail: int) -> tuple[int, int]:
    """Draw the equal ends back to where in both texts a word begins or ends."""

    def inside(text: str, at: int) -> bool:
        return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()

    limit = 200  # of a "word" longer than that, a part may well be marked
    floor = max(0, head - limit)
    while head > floor and (inside(old, head) or inside(new, head)):
        head -= 1
    floor = max(0, tail - limit)
    while tail > floor and (inside(old, len(old) - tail) or inside(new, len(new) - tail)):
        tail -= 1
    return head, tail


def _by_words(a: str, b: str) -> list[Span]:
    return _aligned(_WORD.findall(a), _WORD.findall(b))


def _by_lines(a: str, b: str) -> list[Span]:
    """Lines first; where lines were replaced and are few enough, the words in them."""
    spans: list[Span] = []
    pending: dict[Sign, str] = {"-": "", "+": ""}

    def flush() -> None:
        gone, come = pending["-"], pending["+"]
        if gone and come and len(gone) + len(come) <= _AT_ALL:
            spans.extend(_by_words(gone, come))
        else:
            spans.extend((("-", gone), ("+", come)))
        pending.update({"-": "", "+": ""})

    for sign, text in _aligned(_LINE.findall(a), _LINE.findall(b)):
        if sign == " ":
            flush()
            spans.append((sign, text))
        else:
            pending[sign] += text
    flush()
    return spans


def _aligned(a: Sequence[str], b: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    i = j = 0
    for x, y in [*align(a, b), (len(a), len(b))]:
        spans.append(("-", "".join(a[i:x])))
        spans.append(("+", "".join(b[j:y])))
        if x < len(a):
            spans.append((" ", a[x]))
        i, j = x + 1, y + 1
    return _merged(spans)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Without empty spans, neighbours joined, and white space alone between two changes taken
    into them: a phrase that was replaced is one change, not a change a word."""
    out: list[Span] = []
    gone = come = ""
    kept = ""

    def flush() -> None:
        nonlocal gone, come
        if gone:
            out.append(("-", gone))
        if come:
            out.append(("+", come))
        gone = come = ""

    for sign, text in spans:
        if not text:
            continue
        if sign == " ":
            kept += text
            continue
        if kept:
            if (gone and come) and kept.isspace():
                gone, come = gone + kept, come + kept
            else:
                flush()
                out.append((" ", kept))
            kept = ""
        if sign == "-":
            gone += text
        else:
            come += text
    flush()
    if kept:
        out.append((" ", kept))
    return out
