"""A sheet of cells on which wires are drawn: each cell knows which of its four sides they touch."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

Point = tuple[int, int]
"""(column, row)."""

NORTH, EAST, SOUTH, WEST = range(4)

LIGHT, HEAVY = 1, 2

_LIGHT_HEAVY = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
"""By the strokes at north, east, south and west (none, light, heavy), as digits to the base 3."""

_ROUND = {"┌": "╭", "┐": "╮", "└": "╰", "┘": "╯"}
_ASCII = {"─": "-", "━": "=", "│": ":", "┃": "|"}


class Signs(NamedTuple):
    """What wires are drawn with."""

    ascii: bool
    arrow: str

    def stroke(self, arms: tuple[int, int, int, int]) -> str:
        """The character with these strokes."""
        at = 0
        for arm in arms:
            at = at * 3 + min(arm, HEAVY)
        drawn = _LIGHT_HEAVY[at]
        if not self.ascii:
            return _ROUND.get(drawn, drawn)
        if drawn in _ASCII:
            return _ASCII[drawn]
        upward = arms[NORTH] and not arms[SOUTH]
        corner = sum(map(bool, arms)) == 2
        if corner and max(arms) == LIGHT:
            return "'" if upward else "."
        return "+"


UNICODE, ASCII = Signs(False, "▼"), Signs(True, "v")


class Sheet:
    """Wires as they are drawn, one after the other; where two meet, the stronger one is seen."""

    def __init__(self) -> None:
        self._arms: dict[Point, list[int]] = {}
        self._joints: set[Point] = set()
        self._arrows: dict[Point, int] = {}

    def wire(self, corners: list[Point], weight: int) -> None:
        """A way along straight lines from corner to corner."""
        way = [corners[0]]
        for (x, y), (to_x, to_y) in pairwise(corners):
            step = ((to_x > x) - (to_x < x), (to_y > y) - (to_y < y))
            while way[-1] != (to_x, to_y):
                way.append((way[-1][0] + step[0], way[-1][1] + step[1]))
        for here, there in pairwise(way):
            side = _side(here, there)
            self._touch(here, side, weight)
            self._touch(there, (side + 2) % 4, weight)

    def joint(self, at: Point) -> None:
        """Wires that meet here are joined; elsewhere they cross."""
        self._joints.add(at)

    def stub(self, at: Point, side: int, weight: int) -> None:
        """The end of a wire that goes on at a side of its cell."""
        self._touch(at, side, weight)

    def arrow(self, at: Point, weight: int) -> None:
        """The head of an arrow that points down."""
        self._arrows[at] = max(self._arrows.get(at, 0), weight)

    def _touch(self, at: Point, side: int, weight: int) -> None:
        arms = self._arms.setdefault(at, [0, 0, 0, 0])
        arms[side] = max(arms[side], weight)

    @property
    def width(self) -> int:
        return max((x + 1 for x, _ in (*self._arms, *self._arrows)), default=0)

    def at(self, point: Point, signs: Signs) -> tuple[str, int]:
        """(character, weight) of a cell; (" ", 0) where nothing is."""
        if point in self._arrows:
            return signs.arrow, self._arrows[point]
        arms = self._arms.get(point)
        if arms is None:
            return " ", 0
        north, east, south, west = arms
        if all(arms) and point not in self._joints:
            # Two that cross: one of them is seen, so that it does not look like a joint.
            arms = (
                [north, 0, south, 0] if max(north, south) >= max(east, west) else [0, east, 0, west]
            )
        return signs.stroke((arms[0], arms[1], arms[2], arms[3])), max(arms)


def _side(here: Point, there: Point) -> int:
    if there[0] != here[0]:
        return EAST if there[0] > here[0] else WEST
    return SOUTH if there[1] > here[1] else NORTH
