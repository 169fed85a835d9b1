"""What must not be seen kept out of every view.

Credentials, by key name in metadata and by place in locations: metadata of LangGraph Server holds
the request's headers, and people put what they like into `configurable`. And what the user names,
wherever values are shown: keys, and patterns for parts of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal

from retrograph.engine.errors import ConfigError
from retrograph.engine.views.telling import telling, without_passwords

# A run that shows no value, or its first frame, does without what knows values.
if TYPE_CHECKING:
    from retrograph.engine.values import Value

REDACTED: Final = "[redacted]"

_LONGEST_KEY: Final = 200


class Redactor:
    """Replaces what must not be seen by `[redacted]`, or nothing at all where not `enabled`.

    `keys` are the user's own: names of keys (of any spelling; `*` stands for anything), whose
    values are hidden, and, as `/…/`, regular expressions for parts of texts, wherever they stand.
    `patterns` are more of the latter. Raises `ConfigError` for one that is none.
    """

    def __init__(
        self,
        keys: Iterable[str] = (),
        enabled: bool = True,
        patterns: Iterable[str | re.Pattern[str]] = (),
    ) -> None:
        self.enabled = enabled
        words = list(keys)
        own = [word[1:-1] for word in words if is_pattern(word)]
        self._keys = tuple(_plain(word) for word in words if not is_pattern(word))
        self._patterns = tuple(map(_compiled, (*own, *patterns)))

    def __call__(self, value: Value) -> Value:
        """The same as `metadata`."""
        return self.metadata(value)

    @property
    def hides_values(self) -> bool:
        """Whether the user named anything: else values are shown as they are."""
        return self.enabled and bool(self._keys or self._patterns)

    def metadata(self, value: Value) -> Value:
        """Inert metadata with what stands under a telling key replaced, at any depth, and with
        what the user named. What need not change is the same object."""
        return self._without(value, meta=True) if self.enabled else value

    def value(self, value: Value) -> Value:
        """An inert value of the state with what the user named replaced, at any depth. What need
        not change is the same object."""
        return self._without(value, meta=False) if self.hides_values else value

    def _without(self, value: Value, meta: bool) -> Value:
        from retrograph.engine.views.hiding import Hiding

        return Hiding(self, meta).walk(value)

    @property
    def hides_parts(self) -> bool:
        """Whether the user named parts of texts."""
        return bool(self._patterns)

    def location(self, text: str) -> str:
        """A URL, path or connection string without passwords, in its query neither; or a sentence
        in which one stands."""
        return self.text(without_passwords(text)) if self.enabled else text

    def text(self, text: str) -> str:
        """A string with everything that matches the user's patterns replaced."""
        if self.enabled:
            for pattern in self._patterns:
                text = pattern.sub(REDACTED, text)
        return text

    def names(self, key: object) -> bool:
        """Whether a value under this key is hidden in metadata."""
        name = _name(key)
        return name is not None and (telling(name) or self._listed(name))

    def _listed(self, name: str) -> bool:
        if not self._keys:
            return False
        plain = _plain(name)
        return any(plain == k or ("*" in k and fnmatchcase(plain, k)) for k in self._keys)

    def hides(self, key: object, meta: bool) -> Literal["", "listed", "telling"]:
        """Why a value under this key is hidden, if it is: the user named the key, or in metadata it
        tells of a credential."""
        name = _name(key)
        if name is None:
            return ""
        if self._listed(name):
            return "listed"
        return "telling" if meta and telling(name) else ""


def is_pattern(word: str) -> bool:
    """Whether one of the user's words is a regular expression: `/…/`."""
    return len(word) > 2 and word.startswith("/") and word.endswith("/")


def _compiled(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigError(f"'/{pattern}/' is no regular expression: {error}.") from error


def _name(key: object) -> str | None:
    if isinstance(key, bytes):
        key = key.decode("latin-1")
    return key if isinstance(key, str) and len(key) <= _LONGEST_KEY else None


def _plain(key: str) -> str:
    """A key without case and separators; stars stay. Letters of any script count."""
    return "".join(c for c in key.lower() if c.isalnum() or c == "*")
