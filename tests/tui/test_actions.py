"""The one table of actions: complete, without clashes, and each done by somebody."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from retrograph.engine.errors import ConfigError
from retrograph.tui import actions
from retrograph.tui.actions import ACTIONS, BY_ID, SCOPES
from retrograph.tui.keymap import CHAINS, MAPS, Acts, Keys, shown


def owners() -> list[type[Acts]]:
    root = Path(actions.__file__).parent
    for path in root.rglob("*.py"):
        importlib.import_module(
            ".".join(("retrograph.tui", *path.relative_to(root).with_suffix("").parts))
        )

    def below(of: type[Acts]) -> list[type[Acts]]:
        return [kind for sub in of.__subclasses__() for kind in (sub, *below(sub))]

    return below(Acts)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_each_action_says_what_it_is(action) -> None:  # type: ignore[no-untyped-def]
    assert re.fullmatch(r"[a-z]+(\.[a-z]+(-[a-z]+)*)", action.id)
    assert action.scope in SCOPES
    assert action.title
    assert action.title[0].isupper()
    assert len(action.title) <= 32, "titles stand in a narrow column"
    assert action.help.endswith("."), "help is a sentence"
    assert len(action.hint) <= 12


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(ACTIONS)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.id)
def test_each_action_is_done_by_somebody(action) -> None:  # type: ignore[no-untyped-def]
    doers = [o for o in owners() if action.scope in o.SCOPES]
    assert doers, f"nobody has the scope {action.scope}"
    for doer in doers:
        assert callable(getattr(doer, f"action_{action.name}", None)), (
            f"{doer.__name__} cannot do {action.id}"
        )


def test_every_scope_is_in_a_chain() -> None:
    assert {scope for chain in CHAINS for scope in chain} == set(SCOPES)


@pytest.mark.parametrize("name", MAPS)
def test_our_maps_have_no_clash(name: str) -> None:
    assert Keys(name).clashes == []


def test_a_user_s_key_is_taken_from_who_had_it() -> None:
    keys = Keys("default", {"tree.mark": "n"})
    assert keys.of("tree.mark") == ("n",)
    assert keys.of("tree.next-match") == ()
    assert keys.clashes == []


def test_keys_of_other_places_stay() -> None:
    keys = Keys("default", {"tree.mark": "enter"})
    assert keys.of("tree.open") == ()
    assert "enter" in keys.of("threads.open")


def test_signs_are_spelt_as_textual_does() -> None:
    keys = Keys("default", {"tree.mark": "*,;"})
    assert keys.of("tree.mark") == ("asterisk", "semicolon")
    assert keys.first("tree.mark") == "*"


def test_what_a_user_gives_twice_clashes() -> None:
    keys = Keys("default", {"tree.mark": "x", "tree.head": "x"})
    assert keys.clashes == ["The key x is given to tree.mark and tree.head."] or keys.clashes == [
        "The key x is given to tree.head and tree.mark."
    ]


def test_a_key_can_be_taken_away() -> None:
    assert Keys("default", {"app.quit": ""}).of("app.quit") == ()


def test_unknown_ids_and_maps_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'tree\.mark'"):
        Keys("default", {"tree.makr": "x"})
    with pytest.raises(ConfigError, match="default and vim"):
        Keys("emacs")


def test_keys_as_people_write_them() -> None:
    assert [shown(key) for key in ("ctrl+p", "left", "G", "pagedown")] == ["^p", "←", "G", "PgDn"]
