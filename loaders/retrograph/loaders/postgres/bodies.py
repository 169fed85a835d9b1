"""A page of JSON bodies to envelopes, quickly: what is regular is parsed together, and whatever
is not goes through the engine's `envelope`, which says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from retrograph.engine.model import Envelope, Typed, Version
from retrograph.engine.serde import Serde, decode_metadata, envelope

STEERING: Final = ("branch:", "join:", "start:")
"""How the channels begin that only LangGraph reads."""

_SENDS: Final = "__pregel_tasks"
_VERSIONS: Final = frozenset((str, int, float))
_NOTHING: Final[Mapping[str, Any]] = {}


class Body:
    """One checkpoint of a page, before its blobs are known."""

    __slots__ = ("_body", "_metadata", "_odd", "id", "parent_id", "present", "versions")

    def __init__(self, row: Sequence[Any], body: Any, metadata: Any) -> None:
        """`row`: id, parent, body and metadata as text. Raises `ValueError` for an odd body."""
        self.id: str = row[0]
        self.parent_id: str | None = row[1]
        self._odd: Envelope | None = None
        self._body = body
        self._metadata = metadata
        values, versions = body["channel_values"], body["channel_versions"]
        updated = body.get("updated_channels")
        if type(body["v"]) is not int or type(values) is not dict:
            raise ValueError("odd")
        if body.get("pending_sends") or values.get(_SENDS):
            raise ValueError("odd")  # they are stored elsewhere
        if type(updated) is list and not all(type(name) is str for name in updated):
            raise ValueError("odd")
        if not _VERSIONS.issuperset(map(type, versions.values())):
            raise ValueError("odd")
        for seen in body["versions_seen"].values():
            if not _VERSIONS.issuperset(map(type, seen.values())):
                raise ValueError("odd")
        self.present = frozenset(values)
        self.versions: Mapping[str, Version] = versions

    @classmethod
    def odd(cls, row: Sequence[Any], serde: Serde) -> Body:
        """A body that is not as LangGraph writes them."""
        made = cls.__new__(cls)
        typed = None if row[3] is None else Typed("json", row[3].encode())
        found = envelope("", row[0], row[1], Typed("json", row[2].encode()), typed, serde)
        made.id, made.parent_id = found.id, found.parent_id
        made._odd, made.present, made.versions = found, found.present, found.versions
        return made

    @property
    def v(self) -> int:
        return self._odd.v if self._odd is not None else int(self._body["v"])

    def envelope(
        self,
        ns: str,
        present: Iterable[str] = (),
        control: Mapping[str, Any] = _NOTHING,
        sends: tuple[str, ...] = (),
    ) -> Envelope:
        """With what was found outside the body."""
        odd = self._odd
        if odd is not None:
            updated, seen, metadata, why = odd.updated, odd.seen, odd.metadata, odd.unreadable
            steering = dict(odd.control)
            sends = sends or odd.sends
        else:
            body, why, metadata = self._body, None, self._metadata
            updated, seen = body.get("updated_channels"), body["versions_seen"]
            if type(updated) is not list:
                updated = None
            values = body["channel_values"]
            steering = {name: values[name] for name in values if name.startswith(STEERING)}
        return Envelope(
            ns=ns,
            id=self.id,
            parent_id=self.parent_id,
            v=self.v,
            versions=self.versions,
            seen=seen,
            updated=updated,
            present=self.present.union(present),
            control={**steering, **control} if control else steering,
            sends=sends,
            metadata=metadata,
            unreadable=why,
        )


def parse(rows: Sequence[Sequence[Any]], serde: Serde) -> Iterator[Body]:
    """`rows`: id, parent, body and metadata (may be `None`) as JSON text."""
    parsed = _together([row[2] for row in rows])
    metadata = parse_metadata([row[3] for row in rows], serde)
    for i, (row, said) in enumerate(zip(rows, metadata, strict=True)):
        try:
            yield Body(row, parsed[i] if parsed is not None else json.loads(row[2]), said)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            yield Body.odd(row, serde)


def parse_metadata(texts: Sequence[str | None], serde: Serde) -> Iterator[Mapping[str, Any]]:
    """The metadata of each, as `decode_metadata` has it."""
    given = [text or "{}" for text in texts]
    parsed = _together(given)
    for i, text in enumerate(given):
        if parsed is not None and type(parsed[i]) is dict and '"lc"' not in text:
            yield parsed[i]
        else:
            yield decode_metadata(Typed("json", text.encode()), serde)


def _together(texts: Sequence[str]) -> list[Any] | None:
    """JSON texts, parsed as one; `None` where one of them cannot be."""
    try:
        found: list[Any] = json.loads(f"[{','.join(texts)}]")
    except (ValueError, RecursionError):
        return None
    return found
