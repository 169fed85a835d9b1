"""Inert values: data with a name, which nobody calls.

What `serde` decodes and everything else works on. `kinds` says what there is, `jsonform` how it
is written, `messages` which of it is a conversation.
"""

from retrograph.engine.values.equality import equal
from retrograph.engine.values.jsonform import to_json
from retrograph.engine.values.kinds import (
    ABSENT,
    HIDDEN,
    MAX_DEPTH,
    TOO_DEEP,
    ByteArray,
    Delta,
    How,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
)
from retrograph.engine.values.messages import is_message, message_class, message_fields
from retrograph.engine.values.naming import children, field, type_name
from retrograph.engine.values.reading import from_json, is_secret, map_of

__all__ = [
    "ABSENT",
    "HIDDEN",
    "MAX_DEPTH",
    "TOO_DEEP",
    "ByteArray",
    "Delta",
    "How",
    "MapValue",
    "NdArray",
    "Obj",
    "Pickle",
    "Secret",
    "SetValue",
    "Unreadable",
    "Value",
    "children",
    "equal",
    "field",
    "from_json",
    "is_message",
    "is_secret",
    "map_of",
    "message_class",
    "message_fields",
    "to_json",
    "type_name",
]
