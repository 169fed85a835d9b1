"""Diagrams of graphs: what they look like, and that what can be read from one is the graph."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.diagram.cells import _LIGHT_HEAVY, _ROUND, ASCII, UNICODE, Signs
from retrograph.engine.diagram.draw import MANY_NODES, Diagram, Edge, draw


def picture(nodes: str, edges: str, signs: Signs = UNICODE) -> str:
    """A graph drawn; an edge is `a>b`, `a>>b` a heavy one."""
    found = [
        Edge(*edge.replace(">>", ">").split(">"), 2 if ">>" in edge else 1)  # type: ignore[arg-type]
        for edge in edges.split()
    ]
    diagram = draw({node: len(node) for node in nodes.split()}, found, signs)
    assert diagram is not None
    return shown(diagram)


def shown(diagram: Diagram) -> str:
    return "\n".join("".join(piece.node or piece.text for piece in row) for row in diagram.rows)


def is_drawn(nodes: str, edges: str, expected: str, signs: Signs = UNICODE) -> None:
    wanted = dedent(expected).strip("\n")
    assert dedent(picture(nodes, edges, signs)) == wanted


def test_a_chain() -> None:
    is_drawn(
        "START model END",
        "START>model model>END",
        """
        START
          ▼
        model
          ▼
         END
        """,
    )


AGENT = ("START agent tools END", "START>>agent agent>>tools agent>END tools>>agent")


def test_the_loop_of_an_agent_with_the_way_here_heavy() -> None:
    is_drawn(
        *AGENT,
        """
          START
            ┣━━━━━━━┓
            ▼       ┃
          agent     ┃
         ╭──┺━━━┓   ┃
         ▼      ▼   ┃
        END   tools ┃
                ┗━━━┛
        """,
    )


def test_the_same_in_characters_that_every_terminal_has() -> None:
    is_drawn(
        *AGENT,
        """
          START
            +=======+
            v       |
          agent     |
         .--+===+   |
         v      v   |
        END   tools |
                +===+
        """,
        ASCII,
    )


def test_side_by_side_and_joined() -> None:
    is_drawn(
        "START fraud stock price END",
        "START>fraud START>stock fraud>price stock>price price>END",
        """
            START
          ╭───┴───╮
          ▼       ▼
        fraud   stock
          ╰───┬───╯
              ▼
            price
              ▼
             END
        """,
    )


def test_nodes_that_lead_to_themselves() -> None:
    is_drawn(
        "first second",
        "first>first first>second second>second",
        """
          ╭────╮
          ▼    │
        first  │
          ├────╯
          │ ╭────╮
          ▼ ▼    │
        second   │
          ╰──────╯
        """,
    )


def test_a_graph_that_is_too_large_is_not_drawn() -> None:
    assert draw({}, []) is None
    assert draw({f"n{k}": 3 for k in range(MANY_NODES + 1)}, []) is None


NAMES = "ab", "cdef", "g", "hijklmn", "opq", "rs", "tuvwx", "yz"
edges_of = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=14)


@given(edges_of)
def test_what_can_be_read_is_the_graph(edges: list[tuple[str, str]]) -> None:
    nodes = dict.fromkeys([name for edge in edges for name in edge] or ["ab"])
    diagram = draw({name: len(name) for name in nodes}, [Edge(*edge) for edge in edges])
    if diagram is None:
        return  # it says so, and the list is shown
    drawn = shown(diagram)
    assert all(len(line) <= diagram.width for line in drawn.split("\n"))
    seen, there = set(read(drawn, nodes)), set(edges)
    assert there <= seen, drawn
    # What is more is read against an arrow: from where two arrive back along the other one.
    for source, target in seen - there:
        together = {source}
        while more := {a for a, to in there if a not in together and arrives(together, to, there)}:
            together |= more
        assert any((a, target) in there for a in together), drawn


def arrives(sources: set[str], target: str, edges: set[tuple[str, str]]) -> bool:
    return any((source, target) in edges for source in sources)


@pytest.mark.parametrize("count", [2, 5, 12])
def test_many_side_by_side_are_drawn(count: int) -> None:
    names = [f"worker_{k}" for k in range(count)]
    edges = [edge for name in names for edge in (("split", name), (name, "join"))]
    drawn = picture(" ".join(["split", *names, "join"]), " ".join(f"{a}>{b}" for a, b in edges))
    assert set(read(drawn, dict.fromkeys(["split", *names, "join"]))) == set(edges)


# Reading a picture: wires are followed from cell to cell, and cross where they do not turn.

_STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))
_ARMS = {
    drawn: tuple(k for k in range(4) if (at // 3 ** (3 - k)) % 3)
    for at, light in enumerate(_LIGHT_HEAVY)
    for drawn in {light, _ROUND.get(light, light)}
}


def read(drawn: str, nodes: dict[str, None]) -> Iterator[tuple[str, str]]:
    """The edges that somebody sees."""
    lines = drawn.split("\n")
    sheet = {(x, y): c for y, line in enumerate(lines) for x, c in enumerate(line)}
    owner: dict[tuple[int, int], str] = {}
    for y, line in enumerate(lines):
        for word in line.split():
            if word in nodes:
                start = f" {line} ".index(f" {word} ")
                owner.update(((x, y), word) for x in range(start, start + len(word)))
    for (x, y), character in sheet.items():
        if character == "▼" and (x, y + 1) not in owner:
            # Beside a name that is shorter than its arrows are many.
            owner[x, y + 1] = min(
                (abs(x - there), word) for (there, row), word in owner.items() if row == y + 1
            )[1]
    seen: set[tuple[tuple[int, int], int]] = set()
    for start in sheet:
        for side in arms(sheet, owner, start):
            if (start, side) not in seen:
                sources, targets = follow(sheet, owner, start, side, seen)
                yield from ((source, target) for source in sources for target in targets)


def arms(
    sheet: dict[tuple[int, int], str], owner: dict[tuple[int, int], str], at: tuple[int, int]
) -> tuple[int, ...]:
    character = sheet.get(at, " ")
    if at in owner or character == " ":
        return ()
    return (0,) if character == "▼" else _ARMS[character]


def follow(
    sheet: dict[tuple[int, int], str],
    owner: dict[tuple[int, int], str],
    start: tuple[int, int],
    side: int,
    seen: set[tuple[tuple[int, int], int]],
) -> tuple[set[str], set[str]]:
    """The nodes that one wire comes from, and leads to."""
    sources: set[str] = set()
    targets: set[str] = set()
    todo = [(start, out) for out in arms(sheet, owner, start)]
    assert (start, side) in todo
    while todo:
        at, out = todo.pop()
        if (at, out) in seen:
            continue
        seen.add((at, out))
        if sheet[at] == "▼":
            targets.add(owner[at[0], at[1] + 1])
        x, y = at[0] + _STEPS[out][0], at[1] + _STEPS[out][1]
        if (x, y) in owner:
            sources.add(owner[x, y])
            continue
        back = (out + 2) % 4
        while back not in arms(sheet, owner, (x, y)):
            # Another wire is crossed.
            assert sheet.get((x, y), " ") != " ", f"a wire ends at {(x, y)}"
            x, y = x + _STEPS[out][0], y + _STEPS[out][1]
        seen.add(((x, y), back))
        todo += [((x, y), way) for way in arms(sheet, owner, (x, y)) if way != back]
        if sheet[x, y] == "▼":
            targets.add(owner[x, y + 1])
    return sources, targets
