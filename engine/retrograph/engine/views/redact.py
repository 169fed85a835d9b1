"""What must not be seen kept out of every view.

Credentials, by key name in metadata and by place in locations: metadata of LangGraph Server holds
the request's headers, and people put what they like into `configurable`. And what the user names,
wherever values are shown: keys, and patterns for parts of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Final
from uuid import UUID

from retrograph.engine.errors import ConfigError
from retrograph.engine.values import (
    MAX_DEPTH,
    TOO_DEEP,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
    children,
    map_of,
)
from retrograph.engine.views.telling import numeric, telling, without_passwords

REDACTED: Final = "[redacted]"

_LONGEST_KEY: Final = 200
_WRITTEN: Final = (int, float, date, datetime, time, Decimal, UUID)
"""Values that are shown as a text of which a pattern may match a part."""
_LONGEST_NUMBER: Final = 8192  # bits


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
        return self._walk(value, 0, True) if self.enabled else value

    def value(self, value: Value) -> Value:
        """An inert value of the state with what the user named replaced, at any depth. What need
        not change is the same object."""
        return self._walk(value, 0, False) if self.hides_values else value

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

    def _walk(self, value: Value, depth: int, meta: bool) -> Value:
        if isinstance(value, str):
            if meta and "://" in value:
                value = without_passwords(value)
            return self.text(value) if self._patterns else value
        if depth > MAX_DEPTH:
            return value if next(iter(children(value)), None) is None else Unreadable(TOO_DEEP, 0)
        if isinstance(value, Mapping):
            return self._mapping(value, depth, meta)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, depth, meta)
        if isinstance(value, Obj):
            return self._object(value, depth, meta)
        if isinstance(value, MapValue):
            pairs = [(k, self._under(k, v, depth, meta)) for k, v in value.pairs]
            return map_of(pairs)
        if isinstance(value, Delta):
            snapshot = self._walk(value.snapshot, depth + 1, meta)
            writes = [self._walk(w, depth + 1, meta) for w in value.writes]
            same = [a is b for a, b in zip(writes, value.writes, strict=True)]
            kept = snapshot is value.snapshot and all(same)
            return value if kept else Delta(snapshot, writes)
        return self._leaf(value, depth, meta) if self._patterns else value

    def _mapping(self, value: Mapping[Any, Value], depth: int, meta: bool) -> Value:
        out: dict[Any, Value] = {}
        changed = False
        for key, held in value.items():
            shown = self._under(key, held, depth, meta)
            changed = changed or shown is not held
            out[key] = shown
        name = value.get("name", value.get("key"))
        if "value" in out and (how := self._hides(name, meta)):
            # A header as {"name": …, "value": …}.
            out["value"] = _hidden(value["value"], name, how)
            changed = changed or out["value"] is not value["value"]
        if self._patterns and any(type(k) is str and self.text(k) != k for k in out):
            return {self._key(k, n): v for n, (k, v) in enumerate(out.items())}
        return out if changed else value

    def _key(self, key: Any, number: int) -> Any:
        """A key without what the patterns match, told from its neighbours by its number."""
        if type(key) is not str or (shown := self.text(key)) == key:
            return key
        return f"{shown} {number}"

    def _sequence(self, value: Sequence[Value], depth: int, meta: bool) -> Value:
        how = ""
        if len(value) == 2 and isinstance(value[0], (str, bytes)):
            how = self._hides(value[0], meta)
        if how:
            # A header as a pair.
            out = [value[0], _hidden(value[1], value[0], how)]
        else:
            out = [self._walk(v, depth + 1, meta) for v in value]
        if all(a is b for a, b in zip(out, value, strict=True)):
            return value
        return tuple(out) if isinstance(value, tuple) else out

    def _object(self, value: Obj, depth: int, meta: bool) -> Value:
        if isinstance(value, Secret):
            return value
        if value.how == "ext":
            return self._leaf(value.data, depth, meta) if self._patterns else value
        data = self._walk(value.data, depth + 1, meta)
        if data is value.data:
            return value
        if isinstance(value, SetValue):
            items = data if isinstance(data, list) else [data]
            return SetValue(items, value.name, value.module, value.how)
        return Obj(value.module, value.name, value.how, data, value.extra)

    def _leaf(self, value: Value, depth: int, meta: bool) -> Value:
        """What is no text, but may hold what a pattern matches."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, _WRITTEN):
            if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
                return value
            written = str(value)
            isoformat = value.isoformat() if isinstance(value, (date, time)) else written
            kept = self.text(written) == written and self.text(isoformat) == isoformat
            return value if kept else REDACTED
        if isinstance(value, Unreadable):
            partial = self._walk(value.partial, depth + 1, meta)
            return Unreadable(self.text(value.why), value.nbytes, partial)
        raw = value.raw if isinstance(value, (Pickle, NdArray)) else value
        if isinstance(raw, bytes):
            text = raw.decode("utf-8", "surrogateescape")
            return value if self.text(text) == text else REDACTED
        return value

    def _under(self, key: object, value: Value, depth: int, meta: bool) -> Value:
        how = self._hides(key, meta)
        return _hidden(value, key, how) if how else self._walk(value, depth + 1, meta)

    def _hides(self, key: object, meta: bool) -> str:
        """ "listed" for a key that the user named, "telling" for one that tells of a credential."""
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


def _hidden(value: Value, key: object, how: str) -> Value:
    if value is None or value in ("", b"", [], {}):
        return value
    if how == "telling" and (
        isinstance(value, bool) or (isinstance(value, (int, float)) and not numeric(key))
    ):
        return value
    return REDACTED


def _plain(key: str) -> str:
    """A key without case and separators; stars stay. Letters of any script count."""
    return "".join(c for c in key.lower() if c.isalnum() or c == "*")
