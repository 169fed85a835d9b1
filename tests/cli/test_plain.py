"""The plainest calls of `open`, read without Typer: as Typer reads them, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from retrograph.cli.group import root
from retrograph.cli.plain import Opened, plain_open

PLAIN = [
    ["open"],
    ["open", "demo.db"],
    ["open", "--thread", "one"],
    ["open", "demo.db", "--thread", "one"],
    ["open", "--thread", "one", "demo.db"],
    ["open", "postgresql://user@host/db?sslmode=require"],
    ["open", "--thread", "one", "--thread", "two"],
    ["open", "demo.db", "--thread", ""],
]
NOT_PLAIN = [
    ["threads", "demo.db"],
    ["open", "one.db", "two.db"],
    ["open", "demo.db", "--thread"],
    ["open", "demo.db", "--thread=one"],
    ["open", "demo.db", "--thread", "--json"],
    ["open", "demo.db", "--json"],
    ["open", "demo.db", "--theme", "light"],
    ["open", "--", "-odd-name"],
    ["open", "--help"],
    ["open", "-h"],
    [],
]


def typers(words: list[str]) -> dict[str, Any]:
    group = root()
    context = group.make_context("retrograph", words)
    command = group.get_command(context, "open")
    return dict(command.make_context("open", words[1:], parent=context).params)


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_read_as_typer_reads_them(words: list[str]) -> None:
    read = typers(words)
    assert plain_open(words) == Opened(read["source"], read["thread"])
    assert not any(v for name, v in read.items() if name not in ("source", "thread"))


@pytest.mark.parametrize("words", NOT_PLAIN, ids=" ".join)
def test_left_to_typer(words: list[str]) -> None:
    assert plain_open(words) is None
