"""A checkpoint without its values.

Versions, what was seen, and the control channels are a few hundred bytes beside values that may
be 80 MB. The fast decoder still walks over those, but each extension (a message, a class) becomes
one and the same token in C: nothing is made. Payloads of the kinds that control channels hold (a
join's set, a Send) are kept as bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import ormsgpack

from retrograph.engine.model import Envelope, Typed, Version
from retrograph.engine.serde import jsonplus, msgpack
from retrograph.engine.serde.codec import Serde, sniff
from retrograph.engine.serde.peek import peek_names
from retrograph.engine.serde.sends import payload_node, value_node
from retrograph.engine.values import Pickle, Unreadable, Value, type_name

TASKS: Final = "__pregel_tasks"
_CONTROL: Final = ("branch:", "join:", "start:")

_STR: Final = frozenset({str})
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_VERSION: Final = frozenset({str, int, float})

_FIELDS_DEEP: Final = 4
"""Levels of metadata that may be encoded field by field."""

_TOKEN: Final = object()
_skim: Final = {code: _TOKEN for code in range(-128, 128) if code not in (0, 1, 3)}.get
"""An extension hook in C: `(code, payload)` → the token for messages and other classes, and the
payload itself (`get`'s default) for sets and Sends."""
_ODD: Final = frozenset({object, dict, list})
"""Types inside a control channel's value for which the map is decoded as usual."""


def envelope(
    ns: str,
    checkpoint_id: str,
    parent_id: str | None,
    checkpoint: Typed,
    metadata: Typed | None,
    serde: Serde,
) -> Envelope:
    """What of a stored checkpoint decides the next step. Never raises on data: `unreadable` says
    what is wrong, and what could be read is there."""
    body, why = _body(checkpoint, serde)
    values = _mapping(body.get("channel_values"))
    if body and why is None and not isinstance(body.get("channel_versions"), dict):
        why = "not a checkpoint (no channel_versions)"
    seen = {node: _versions(v) for node, v in _mapping(body.get("versions_seen")).items()}
    updated = body.get("updated_channels")
    v = body.get("v")
    sends = _kept(values.get(TASKS) or body.get("pending_sends"))
    return Envelope(
        ns=ns,
        id=checkpoint_id,
        parent_id=parent_id,
        v=v if type(v) is int and why is None else 0,
        versions=_versions(body.get("channel_versions")),
        seen=seen,
        updated=[c for c in updated if type(c) is str] if type(updated) is list else None,
        present=frozenset(values),
        control={k: _kept(value) for k, value in values.items() if k.startswith(_CONTROL)},
        sends=_nodes(sends),
        metadata=decode_metadata(metadata, serde),
        unreadable=why,
    )


def _mapping(value: Value) -> dict[str, Any]:
    if type(value) is not dict:
        return {}
    # In C: this runs for each node of each checkpoint.
    if _STR.issuperset(map(type, value)):
        return value
    return {str(k): v for k, v in value.items()}


def _versions(value: Value) -> Mapping[str, Version]:
    found = _mapping(value)
    if _VERSION.issuperset(map(type, found.values())):
        return found
    return {k: v for k, v in found.items() if type(v) in _VERSION}


def _nodes(sends: Value) -> tuple[str, ...]:
    if type(sends) is not list:
        return ()
    nodes = []
    for send in sends:
        node = None
        if isinstance(send, msgpack.Packed) and send.sealed:
            node = payload_node(send.sealed)
        if node is None:
            node = value_node(send)
        if node is not None:
            nodes.append(node)
    return tuple(nodes)


def _body(checkpoint: Typed, serde: Serde) -> tuple[dict[str, Any], str | None]:
    """The checkpoint's map and, where it is not whole, why."""
    opened = serde.open(checkpoint)
    if isinstance(opened, Unreadable):
        return {}, opened.why
    kind, data = opened
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    kind = sniff(data) if kind is None else kind
    body: Value
    if kind == "msgpack":
        body = _skimmed(data)
    elif kind == "json":
        body = jsonplus.loads_plain(data)
    else:
        body = serde.decode(Typed(kind, data))
    if isinstance(body, Unreadable):
        partial = body.partial if type(body.partial) is dict else {}
        return partial, body.why
    if isinstance(body, Pickle):
        return {}, "a pickle, which is never loaded"
    if type(body) is not dict:
        return {}, f"not a checkpoint ({type_name(body)})"
    return body, None


def _skimmed(data: bytes) -> Value:
    """The map with extensions forgotten, but for those that control channels may hold."""
    try:
        body = ormsgpack.unpackb(data, ext_hook=_skim)
    except (ValueError, TypeError):
        return msgpack.unpack(data)
    odd = type(body) is not dict or not _ODD.isdisjoint(_kinds_of_control(body))
    return msgpack.unpack(data) if odd else body


def _kinds_of_control(body: Value) -> set[type]:
    """Types of what control channels hold, or of its items where that is a list."""
    values = body.get("channel_values") if type(body) is dict else None
    if type(values) is not dict:
        return set()
    found: list[Any] = []
    for value in (
        body.get("pending_sends"),
        values.get(TASKS),
        *(v for k, v in values.items() if k.startswith(_CONTROL)),
    ):
        found += value if type(value) is list else (value,)
    return set(map(type, found))


def _kept(value: Value) -> Value:
    """A control channel's value, with payloads as inert values."""
    if type(value) is list:
        return [_kept_payload(v) for v in value]
    return _kept_payload(value)


def _kept_payload(value: Value) -> Value:
    # LangGraph's own channels hold no bytes: these are a payload, whose names tell the code.
    names = peek_names(value) if type(value) is bytes else None
    if names is None:
        return value
    return msgpack.hook(1 if names[1] == "Send" else 0, value)


def decode_metadata(metadata: Typed | None, serde: Serde) -> Mapping[str, Any]:
    """Metadata as a dict of inert values, `{}` where there is none.

    The bytes are JSON in most stores. MongoDB's saver stores each field by itself, as encoded
    bytes (b"15") or as a pair ["msgpack", bytes]: both are opened.
    """
    if metadata is None or not metadata.data:
        return {}
    value = serde.decode(metadata)
    if isinstance(value, Unreadable):
        value = value.partial
    found = _mapping(value)
    if _PLAIN.issuperset(map(type, found.values())):
        return found
    return {k: _field(v, serde, _FIELDS_DEEP) for k, v in found.items()}


def _field(value: Value, serde: Serde, deeper: int) -> Value:
    if type(value) is bytes:
        found = jsonplus.loads(value)
        return value if isinstance(found, Unreadable) else found
    if (
        type(value) is list
        and len(value) == 2
        and type(value[0]) is str
        and type(value[1]) is bytes
    ):
        return serde.decode(Typed(value[0], value[1]))
    if type(value) is dict and value and deeper:
        return {k: _field(v, serde, deeper - 1) for k, v in value.items()}
    return value
