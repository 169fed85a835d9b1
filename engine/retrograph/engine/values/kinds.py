"""The kinds of inert values.

Plain data stays plain: None, bool, int, float, str, bytes, list, dict. Of the standard library
datetime, date, time, timedelta, UUID and Decimal are themselves, since making one runs nothing.
Whatever else the data names is one of the classes here: data with a name, which nobody calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeAlias

Value: TypeAlias = Any
"""An inert value: anything that `decode` yields."""

How: TypeAlias = Literal[
    "arg", "args", "kwargs", "method", "pydantic1", "pydantic", "lc1", "lc2", "ext"
]
"""The form in which a class was stored.

`arg`, `args`, `kwargs`, `method`, `pydantic1`, `pydantic` are LangGraph's msgpack extensions
0 … 5; `lc1` and `lc2` the constructor dicts of the JSON serializers; `ext` any other extension.
"""

MAX_DEPTH: Final = 200
"""Levels of nesting that are walked; what lies deeper is `Unreadable`."""

TOO_DEEP: Final = "nested too deep"

HIDDEN: Final = "**********"
"""What is shown in place of a secret, as pydantic shows it."""

ARG_NAMES: Final = {
    "langgraph.types.Send": ("node", "arg", "timeout"),
    "langgraph.constants.Send": ("node", "arg"),
}
"""Names of the arguments of classes that are stored by position."""

_STR: Final = frozenset({str})

Parts: TypeAlias = tuple[str, str, Any, tuple[Any, ...]]
"""module, name, data, extra of an `Obj`."""


class Obj:
    """An instance of a class that the data names. Read-only; never constructed for real.

    `data` is the fields as a dict, or the argument, or the list of arguments, by `how`.
    """

    __slots__ = ("_how", "_parts")
    _how: How
    _parts: Parts

    def __init__(
        self, module: str, name: str, how: How, data: Value, extra: tuple[Any, ...] = ()
    ) -> None:
        self._how = how
        self._parts = (module, name, data, extra)

    @property
    def parts(self) -> Parts:
        return self._parts

    @property
    def how(self) -> How:
        return self._how

    @property
    def module(self) -> str:
        """The dotted module, "" where the data gives none (JS)."""
        return self.parts[0]

    @property
    def name(self) -> str:
        return self.parts[1]

    @property
    def data(self) -> Value:
        return self.parts[2]

    @property
    def extra(self) -> tuple[Any, ...]:
        """What else was stored: a method's name, usually."""
        return self.parts[3]

    @property
    def sealed(self) -> bytes | None:
        """The stored bytes of `data`, as long as nobody has looked inside; `None` afterwards. Two
        that have the same are equal."""
        return None

    @property
    def type(self) -> str:
        """The full name: "app.models.Customer"."""
        module, name = self.module, self.name
        return f"{module}.{name}" if module else name

    @property
    def fields(self) -> dict[str, Value] | None:
        """The fields by name, `None` where it was stored by position or as one argument."""
        if self.how in ("arg", "args", "method", "ext"):
            return self._named_args()
        data = self.data
        return data if type(data) is dict and _STR.issuperset(map(type, data)) else None

    def _named_args(self) -> dict[str, Value] | None:
        if self.how != "args":
            return None
        names, data = ARG_NAMES.get(self.type), self.data
        if names is None or type(data) is not list or not 2 <= len(data) <= len(names):
            return None
        return dict(zip(names, data, strict=False))

    def __eq__(self, other: object) -> bool:
        from retrograph.engine.values.equality import equal

        return equal(self, other) if isinstance(other, Obj) else NotImplemented

    def __hash__(self) -> int:
        return hash((Obj, self.type))

    def __repr__(self) -> str:
        return f"<{self.type}>"


class SetValue(Obj):
    """A set or frozenset. Its items may be unhashable, so it is a list that knows what it was."""

    __slots__ = ()

    def __init__(
        self,
        items: list[Value],
        name: str = "set",
        module: str = "builtins",
        how: How = "arg",
    ) -> None:
        super().__init__(module, name, how, items)

    @property
    def items(self) -> list[Value]:
        data = self.data
        return data if isinstance(data, list) else []

    def __contains__(self, item: object) -> bool:
        return item in self.items

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Secret(Obj):
    """A SecretStr: stored in plain text, never shown. `data` is stars; `reveal` is for encoding."""

    __slots__ = ()

    @property
    def data(self) -> Value:
        return HIDDEN

    def reveal(self) -> Value:
        return self.parts[2]

    @property
    def fields(self) -> dict[str, Value] | None:
        return None


class ByteArray(bytes):
    """A value stored under the type `bytearray`."""

    __slots__ = ()


class MapValue:
    """A map with keys that a Python dict cannot hold; pairs in stored order."""

    __slots__ = ("_pairs",)
    _pairs: tuple[tuple[Value, Value], ...]

    def __init__(self, pairs: Any) -> None:
        self._pairs = tuple((k, v) for k, v in pairs)

    @property
    def pairs(self) -> tuple[tuple[Value, Value], ...]:
        return self._pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __eq__(self, other: object) -> bool:
        from retrograph.engine.values.equality import equal

        return equal(self, other) if isinstance(other, MapValue) else NotImplemented

    def __hash__(self) -> int:
        return hash((MapValue, len(self._pairs)))

    def __repr__(self) -> str:
        return f"<map of {len(self._pairs)}>"


class NdArray:
    """A numpy array (extension 6): `dtype` as numpy writes it ("<f8"), `order` "C" or "F"."""

    __slots__ = ("dtype", "order", "raw", "shape")
    dtype: str
    shape: tuple[int, ...]
    order: str
    raw: bytes

    def __init__(self, dtype: str, shape: tuple[int, ...], order: str, raw: bytes) -> None:
        self.dtype = dtype
        self.shape = shape
        self.order = order
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NdArray):
            return NotImplemented
        return (self.dtype, self.shape, self.order, self.raw) == (
            other.dtype,
            other.shape,
            other.order,
            other.raw,
        )

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape, self.order, self.raw))

    def __repr__(self) -> str:
        return f"<array {self.dtype} {list(self.shape)}>"


class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""No value: a DeltaChannel without a snapshot."""


class Delta:
    """A DeltaChannel: the nearest snapshot, and the writes since, oldest first.

    A stored `_DeltaSnapshot` is one without writes. The folded value needs the reducer.
    """

    __slots__ = ("_snapshot", "_writes")
    _snapshot: Value
    _writes: tuple[Value, ...]

    def __init__(self, snapshot: Value = ABSENT, writes: Any = ()) -> None:
        self._snapshot = snapshot
        self._writes = tuple(writes)

    @property
    def snapshot(self) -> Value:
        """The snapshot, `ABSENT` where the line has none."""
        return self._snapshot

    @property
    def writes(self) -> tuple[Value, ...]:
        return self._writes

    def __eq__(self, other: object) -> bool:
        from retrograph.engine.values.equality import equal

        return equal(self, other) if isinstance(other, Delta) else NotImplemented

    def __hash__(self) -> int:
        return hash((Delta, len(self.writes)))

    def __repr__(self) -> str:
        return f"<delta + {len(self.writes)} writes>"


class Pickle:
    """Pickled bytes, never loaded."""

    __slots__ = ("_names", "_scan", "raw")
    raw: bytes

    def __init__(self, raw: bytes, scan: Callable[[bytes], tuple[str, ...]] | None = None) -> None:
        self.raw = raw
        self._scan = scan
        self._names: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The globals that it would import, as far as reading its opcodes tells."""
        if self._names is None:
            self._names = self._scan(self.raw) if self._scan else ()
        return self._names

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Pickle) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"<pickle {len(self.raw)} bytes>"


class Unreadable:
    """Bytes that could not be decoded: why, how many, and what could be read before it broke."""

    __slots__ = ("nbytes", "partial", "why")
    why: str
    nbytes: int
    partial: Value

    def __init__(self, why: str, nbytes: int, partial: Value = ABSENT) -> None:
        self.why = why
        self.nbytes = nbytes
        self.partial = partial

    def __eq__(self, other: object) -> bool:
        from retrograph.engine.values.equality import equal

        return equal(self, other) if isinstance(other, Unreadable) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.why, self.nbytes))

    def __repr__(self) -> str:
        return f"<unreadable: {self.why}, {self.nbytes} bytes>"
