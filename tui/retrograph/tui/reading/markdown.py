"""Markdown as lines of spans: headings, lists, quotes, code and tables in so many columns.

CommonMark with tables and strikethrough, by markdown-it. It is drawn, never followed: links show
where they lead, images their name, HTML its own text. Every piece is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from retrograph.engine.text import escape
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Line, Span, clip, columns, pad, width

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST = 200_000
"""Characters of a text that are read as Markdown; the rest follows as it is."""

_NARROWEST = 16
"""Columns that a text keeps however deep it stands in lists."""

_STYLES = {"strong": "strong", "em": "class", "s": "dim", "link": "accent"}


def markdown(text: str, wide: int, ascii: bool = False) -> list[Line]:
    """The lines of a text in `wide` columns."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    writer = _Writer(wide, ascii)
    writer.blocks(parser.parse(text[:LONGEST]))
    if len(text) > LONGEST:
        rest = Wrapped(text[LONGEST:], wide)
        writer.lines += [
            (),
            (Span(f"The rest, {len(text) - LONGEST:,} characters, is plain:", "waits"),),
        ]
        writer.lines += [(Span(escape(rest.line(k))),) for k in range(len(rest))]
    return writer.lines


class _Writer:
    """Lines, and what stands before each while one is inside lists and quotes."""

    def __init__(self, wide: int, ascii: bool) -> None:
        self.lines: list[Line] = []
        self._wide = wide
        self._bullet, self._bar, self._rule = ("-", "|", "-") if ascii else ("•", "│", "─")
        self._before: list[Span] = []
        """What stands before every line."""
        self._marker: Span | None = None
        """What stands instead of the last of these before the next line."""
        self._numbers: list[int | None] = []
        """Of the lists that are open: the next number, `None` of a list without."""
        self._tight = True

    def blocks(self, tokens: Sequence[Token]) -> None:
        role = ""
        k = 0
        while k < len(tokens):
            token = tokens[k]
            kind = token.type
            if kind == "heading_open":
                self._apart()
                role = "accent strong" if token.tag == "h1" else "strong"
            elif kind == "paragraph_open":
                self._apart(token.hidden)
            elif kind == "inline":
                self._text(_pieces(token.children or (), role))
                role = ""
            elif kind in ("bullet_list_open", "ordered_list_open"):
                if not self._numbers:
                    self._apart()
                start = int(token.attrs.get("start", 1))
                self._numbers.append(start if kind.startswith("ordered") else None)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._numbers.pop()
            elif kind == "list_item_open":
                self._item()
            elif kind == "blockquote_open":
                self._apart()
                self._before.append(Span(f"{self._bar} ", "faint"))
            elif kind in ("list_item_close", "blockquote_close"):
                self._before.pop()
                self._marker = None
            elif kind in ("fence", "code_block"):
                self._code(token.content)
            elif kind == "hr":
                self._apart()
                self._line([Span(self._rule * min(self._room, 40), "faint")])
            elif kind == "table_open":
                end = next(j for j in range(k, len(tokens)) if tokens[j].type == "table_close")
                self._table(tokens[k:end])
                k = end
            elif token.content:
                self._text([Span(escape(token.content))])
            k += 1

    @property
    def _room(self) -> int:
        return max(self._wide - width(self._before), _NARROWEST)

    def _apart(self, hidden: bool = False) -> None:
        """A blank line between blocks, but none in tight lists and after a bullet."""
        if self.lines and not hidden and self._marker is None and self.lines[-1]:
            self.lines.append(())

    def _item(self) -> None:
        number = self._numbers[-1]
        if number is None:
            marker = f"{self._bullet} "
        else:
            marker = f"{number}. "
            self._numbers[-1] = number + 1
        self._before.append(Span(" " * columns(marker)))
        self._marker = Span(marker, "accent")

    def _line(self, spans: Sequence[Span]) -> None:
        before = list(self._before)
        if self._marker is not None and before:
            before[-1] = self._marker
            self._marker = None
        self.lines.append((*before, *spans))

    def _text(self, pieces: Sequence[Span]) -> None:
        for line in wrapped(pieces, self._room):
            self._line(line)

    def _code(self, content: str) -> None:
        self._apart()
        bar = Span(f"{self._bar} ", "faint")
        lines = Wrapped(content.rstrip("\n"), self._room - 2)
        for k in range(len(lines)):
            self._line([bar, Span(escape(lines.line(k)), "string")])

    def _table(self, tokens: Sequence[Token]) -> None:
        self._apart()
        rows: list[list[list[Span]]] = []
        heads = 0
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "thead_close":
                heads = len(rows)
            elif token.type == "inline":
                role = "strong" if not heads else ""
                rows[-1].append(_pieces(token.children or (), role))
        count = max(map(len, rows), default=0)
        wanted = [
            max((width(row[k]) for row in rows if k < len(row)), default=0) for k in range(count)
        ]
        most = max((self._room - 2 * (count - 1)) // max(count, 1), 3)
        if sum(wanted) + 2 * (count - 1) > self._room:
            wanted = [min(w, most) for w in wanted]
        for number, row in enumerate(rows):
            line: list[Span] = []
            for cell, wide in zip(row, wanted, strict=False):
                line += [*([Span("  ")] if line else []), *pad(_clipped(cell, wide), wide)]
            self._line(line)
            if number + 1 == heads:
                self._line(
                    [Span(self._rule * min(sum(wanted) + 2 * (count - 1), self._room), "faint")]
                )


def _clipped(cell: Sequence[Span], wide: int) -> list[Span]:
    if width(cell) <= wide:
        return list(cell)
    return [Span(clip("".join(span.text for span in cell), wide))]


def _pieces(tokens: Sequence[Token], role: str) -> list[Span]:
    """The pieces of a paragraph; "\\n" alone is a break of the line."""
    found: list[Span] = []
    open_: list[str] = [role] if role else []
    targets: list[str] = []
    for token in tokens:
        style = " ".join(open_)
        if token.type in ("text", "html_inline"):
            found.append(Span(escape(token.content), style))
        elif token.type == "code_inline":
            found.append(Span(escape(token.content), "string"))
        elif token.type == "softbreak":
            found.append(Span(" ", style))
        elif token.type == "hardbreak":
            found.append(Span("\n"))
        elif token.type == "image":
            source = escape(str(token.attrs.get("src", "")))
            found.append(Span(f"[{escape(token.content) or 'image'}] ({source})", "dim"))
        elif token.type.endswith("_open"):
            open_.append(_STYLES.get(token.type.removesuffix("_open"), ""))
            if token.type == "link_open":
                targets.append(str(token.attrs.get("href", "")))
        elif token.type.endswith("_close"):
            open_.pop()
            if token.type == "link_close" and (target := targets.pop()):
                shown = escape(target)
                if not found or found[-1].text != shown:
                    found.append(Span(f" ({shown})", "dim"))
    return [Span(text, " ".join(role.split())) for text, role in found]


def wrapped(pieces: Sequence[Span], wide: int) -> Iterator[list[Span]]:
    """Spans broken between words into lines of so many columns; longer words are cut through."""
    line: list[Span] = []
    used = 0
    for word, role in _words(pieces):
        if word == "\n":
            yield line
            line, used = [], 0
            continue
        size = columns(word)
        if used + size > wide and line:
            if word == " ":
                yield line
                line, used = [], 0
                continue
            # The blank before the word that does not fit is left behind.
            while line and line[-1].text == " ":
                line.pop()
            yield line
            line, used = [], 0
        if word == " " and not line:
            continue
        while size > wide:
            fitting = clip(word, wide + 1, "")
            line.append(Span(fitting, role))
            yield line
            line, used = [], 0
            word = word[len(fitting) :]
            size = columns(word)
        if word:
            line.append(Span(word, role))
            used += size
    if line:
        yield line


def _words(pieces: Sequence[Span]) -> Iterator[tuple[str, str]]:
    for text, role in pieces:
        if text == "\n":
            yield text, role
            continue
        for k, word in enumerate(text.split(" ")):
            if k:
                yield " ", role
            if word:
                yield word, role
