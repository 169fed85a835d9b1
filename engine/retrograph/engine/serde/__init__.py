"""LangGraph's serialization, decoded without importing or calling anything that the data names.

`Serde` decodes and encodes one stored value; `envelope` reads a checkpoint without its values;
`send_node` tells where a stored Send goes.
"""

from retrograph.engine.serde.codec import Serde
from retrograph.engine.serde.envelopes import decode_metadata, envelope
from retrograph.engine.serde.sends import send_node, value_node

__all__ = ["Serde", "decode_metadata", "envelope", "send_node", "value_node"]
