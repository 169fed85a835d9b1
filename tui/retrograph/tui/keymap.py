"""Which key does what: one of the maps of the table, with the user's own keys on top."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingsMap
from textual.dom import DOMNode
from textual.keys import KEY_NAME_REPLACEMENTS

from retrograph.engine.errors import ConfigError
from retrograph.tui.actions import ACTIONS, BY_ID, Action

MAPS = ("default", "vim")

CHAINS: tuple[tuple[str, ...], ...] = (
    ("move", "tree", "thread", "app"),
    ("move", "state", "value", "thread", "app"),
    ("move", "diff", "thread", "app"),
    ("move", "messages", "thread", "app"),
    ("move", "threads", "app"),
    ("move", "reader", "app"),
    ("prompt",),
    ("move", "dialog"),
)
"""Scopes that hold at the same time: within a chain a key means one thing. A prompt takes what is
typed before anything around it."""

_SHOWN = {
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "tab": "Tab",
    "backspace": "Bksp",
}


class Keys:
    """The keys of every action, resolved once."""

    def __init__(self, name: str = "default", own: Mapping[str, str] | None = None) -> None:
        """`own`: keys by action id; "" takes an action's keys away.

        Raises `ConfigError` for a map or an id that does not exist. A key that `own` gives to an
        action is taken from those that had it by the map; what `own` gives twice is a clash.
        """
        if name not in MAPS:
            raise ConfigError(f"There is no key map '{name}'; there are {' and '.join(MAPS)}.")
        own = {id_: ",".join(_split(keys)) for id_, keys in (own or {}).items()}
        for id_ in own:
            if id_ not in BY_ID:
                near = get_close_matches(id_, BY_ID, n=1)
                hint = f"; did you mean '{near[0]}'?" if near else "."
                raise ConfigError(f"There is no action '{id_}' to give a key to{hint}")
        self._keys = {action.id: _split(_mapped(action, name)) for action in ACTIONS}
        for id_, keys in own.items():
            self._give(id_, _split(keys), own)
        self.clashes = self._clashes()
        """One sentence for each key that means two things in one place."""

    def _give(self, id_: str, keys: Sequence[str], own: Mapping[str, str]) -> None:
        together = {s for chain in CHAINS if BY_ID[id_].scope in chain for s in chain}
        for other, held in self._keys.items():
            if other not in own and BY_ID[other].scope in together:
                self._keys[other] = tuple(key for key in held if key not in keys)
        self._keys[id_] = tuple(keys)

    def _clashes(self) -> list[str]:
        found = []
        for chain in CHAINS:
            taken: dict[str, str] = {}
            for action in ACTIONS:
                if action.scope not in chain:
                    continue
                for key in self._keys[action.id]:
                    before = taken.setdefault(key, action.id)
                    if before != action.id:
                        found.append(f"The key {shown(key)} is given to {before} and {action.id}.")
        return list(dict.fromkeys(found))

    def of(self, id_: str) -> tuple[str, ...]:
        """The keys of an action, the first one first."""
        return self._keys[id_]

    def first(self, id_: str) -> str:
        """The first key of an action as it is shown, "" where it has none."""
        keys = self._keys[id_]
        return shown(keys[0]) if keys else ""

    def all(self, id_: str) -> str:
        """All keys of an action as they are shown."""
        return " ".join(map(shown, self._keys[id_]))

    def bindings(self, scopes: Iterable[str]) -> BindingsMap:
        """Textual's bindings for the owner of some scopes."""
        wanted = frozenset(scopes)
        return BindingsMap(
            [
                Binding(key, action.name, action.title, id=action.id, show=False)
                for action in ACTIONS
                if action.scope in wanted
                for key in self._keys[action.id]
            ]
        )


# At run time a mixin is no node: Textual follows the first base that is one for styles.
if TYPE_CHECKING:
    _Node = DOMNode
else:
    _Node = object


class Acts(_Node):
    """A widget or screen that does the actions of some scopes; mixed in before Textual's class.

    Its keys are those of the table, and none that its Textual ancestors bring along.
    """

    SCOPES: ClassVar[tuple[str, ...]] = ()

    def bind_keys(self, keys: Keys) -> None:
        """Take the keys in force; called once, before the first key can arrive."""
        self._bindings = keys.bindings(self.SCOPES)


def shown(key: str) -> str:
    """A key as people write it: `^p`, `→`, `Space`."""
    modifier, _, last = key.rpartition("+")
    last = _SHOWN.get(last) or _SIGNS.get(last, last)
    if modifier == "ctrl":
        return f"^{last}"
    return f"{modifier}+{last}" if modifier else last


def _mapped(action: Action, name: str) -> str:
    return action.vim if name == "vim" and action.vim is not None else action.keys


def _split(keys: str) -> tuple[str, ...]:
    """The keys of a list; a single sign such as `/` is spelt as Textual spells it."""
    return tuple(_spelt(key) for key in map(str.strip, keys.split(",")) if key)


def _spelt(key: str) -> str:
    if len(key) != 1 or key.isalnum():
        return key
    name = unicodedata.name(key).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


_SIGNS = {_spelt(sign): sign for sign in string.punctuation}
