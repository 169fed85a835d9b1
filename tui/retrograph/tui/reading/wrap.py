"""A long text as lines of a width, broken between words."""

from __future__ import annotations

from array import array

from rich.cells import cell_len

_TAB = 4


class Wrapped:
    """The lines of a text, held as offsets: eight bytes a line."""

    def __init__(self, text: str, width: int | None) -> None:
        """`width`: columns of a line; `None` leaves the lines as they are."""
        self.text = text.expandtabs(_TAB) if "\t" in text else text
        self._starts = array("q")
        self._ends = array("q")
        start = 0
        while start <= len(self.text):
            end = self.text.find("\n", start)
            end = len(self.text) if end < 0 else end
            self._paragraph(start, end, width)
            start = end + 1

    def _paragraph(self, start: int, end: int, width: int | None) -> None:
        if width is not None and width > 0:
            text = self.text
            plain = text.isascii()
            while end - start > width or (not plain and cell_len(text[start:end]) > width):
                stop = start + width if plain else _fitting(text, start, end, width)
                space = text.rfind(" ", start, stop + 1)
                cut = space if space > start else stop
                self._add(start, cut)
                start = cut + 1 if text[cut : cut + 1] == " " else cut
        self._add(start, end)

    def _add(self, start: int, end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, row: int) -> str:
        return self.text[self._starts[row] : self._ends[row]].rstrip("\r")


def _fitting(text: str, start: int, end: int, width: int) -> int:
    """How far the characters from `start` fit in so many columns; one at least."""
    stop = min(start + width, end)
    while stop > start + 1 and cell_len(text[start:stop]) > width:
        over = cell_len(text[start:stop]) - width
        stop = max(stop - max(over // 2, 1), start + 1)
    return stop
