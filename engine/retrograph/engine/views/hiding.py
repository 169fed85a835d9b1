"""Going through values in the place of a `Redactor`, which says what must not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

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
from retrograph.engine.views.redact import REDACTED, Redactor
from retrograph.engine.views.telling import numeric, without_passwords

_WRITTEN: Final = (int, float, date, datetime, time, Decimal, UUID)
"""Values that are shown as a text of which a pattern may match a part."""
_LONGEST_NUMBER: Final = 8192  # bits


class Hiding:
    """One way through: of metadata, or of values of the state."""

    def __init__(self, redactor: Redactor, meta: bool) -> None:
        self._redactor = redactor
        self._meta = meta
        self._parts = redactor.hides_parts
        self._text = redactor.text

    def walk(self, value: Value, depth: int = 0) -> Value:
        """The value without what is hidden; the same object where that is nothing."""
        if isinstance(value, str):
            if self._meta and "://" in value:
                value = without_passwords(value)
            return self._text(value) if self._parts else value
        if depth > MAX_DEPTH:
            return value if next(iter(children(value)), None) is None else Unreadable(TOO_DEEP, 0)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, depth)
        if isinstance(value, Obj):
            return self._object(value, depth)
        if isinstance(value, MapValue):
            pairs = [(k, self._under(k, v, depth)) for k, v in value.pairs]
            return map_of(pairs)
        if isinstance(value, Delta):
            snapshot = self.walk(value.snapshot, depth + 1)
            writes = [self.walk(w, depth + 1) for w in value.writes]
            same = [a is b for a, b in zip(writes, value.writes, strict=True)]
            kept = snapshot is value.snapshot and all(same)
            return value if kept else Delta(snapshot, writes)
        return self._leaf(value, depth) if self._parts else value

    def _mapping(self, value: Mapping[Any, Value], depth: int) -> Value:
        out: dict[Any, Value] = {}
        changed = False
        for key, held in value.items():
            shown = self._under(key, held, depth)
            changed = changed or shown is not held
            out[key] = shown
        name = value.get("name", value.get("key"))
        if "value" in out and (how := self._hides(name)):
            # A header as {"name": …, "value": …}.
            out["value"] = hidden(value["value"], name, how)
            changed = changed or out["value"] is not value["value"]
        if self._parts and any(type(k) is str and self._text(k) != k for k in out):
            return {self._key(k, n): v for n, (k, v) in enumerate(out.items())}
        return out if changed else value

    def _key(self, key: Any, number: int) -> Any:
        """A key without what the patterns match, told from its neighbours by its number."""
        if type(key) is not str or (shown := self._text(key)) == key:
            return key
        return f"{shown} {number}"

    def _sequence(self, value: Sequence[Value], depth: int) -> Value:
        how = ""
        if len(value) == 2 and isinstance(value[0], (str, bytes)):
            how = self._hides(value[0])
        if how:
            # A header as a pair.
            out = [value[0], hidden(value[1], value[0], how)]
        else:
            out = [self.walk(v, depth + 1) for v in value]
        if all(a is b for a, b in zip(out, value, strict=True)):
            return value
        return tuple(out) if isinstance(value, tuple) else out

    def _object(self, value: Obj, depth: int) -> Value:
        if isinstance(value, Secret):
            return value
        if value.how == "ext":
            return self._leaf(value.data, depth) if self._parts else value
        data = self.walk(value.data, depth + 1)
        if data is value.data:
            return value
        if isinstance(value, SetValue):
            items = data if isinstance(data, list) else [data]
            return SetValue(items, value.name, value.module, value.how)
        return Obj(value.module, value.name, value.how, data, value.extra)

    def _leaf(self, value: Value, depth: int) -> Value:
        """What is no text, but may hold what a pattern matches."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, _WRITTEN):
            if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
                return value
            written = str(value)
            isoformat = value.isoformat() if isinstance(value, (date, time)) else written
            kept = self._text(written) == written and self._text(isoformat) == isoformat
            return value if kept else REDACTED
        if isinstance(value, Unreadable):
            partial = self.walk(value.partial, depth + 1)
            return Unreadable(self._text(value.why), value.nbytes, partial)
        raw = value.raw if isinstance(value, (Pickle, NdArray)) else value
        if isinstance(raw, bytes):
            text = raw.decode("utf-8", "surrogateescape")
            return value if self._text(text) == text else REDACTED
        return value

    def _under(self, key: object, value: Value, depth: int) -> Value:
        how = self._hides(key)
        return hidden(value, key, how) if how else self.walk(value, depth + 1)

    def _hides(self, key: object) -> str:
        return self._redactor.hides(key, self._meta)


def hidden(value: Value, key: object, how: str) -> Value:
    """What is shown in the place of a value under a key; `how` as `Redactor.hides` says."""
    if value is None or value in ("", b"", [], {}):
        return value
    if how == "telling" and (
        isinstance(value, bool) or (isinstance(value, (int, float)) and not numeric(key))
    ):
        return value
    return REDACTED
