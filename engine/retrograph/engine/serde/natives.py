"""The few classes of which instances are made: those of the standard library that are only data.

An instance is made only where encoding it would give the same payload again. `Path`, `ZoneInfo`,
`re` and the like stay objects: making some of them touches the disk, or runs an engine on the data.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from typing import Any, Final
from uuid import UUID

import ormsgpack

_LONGEST: Final = 1_000
"""Bytes of a payload beyond which it is none of these."""

REFUSALS: Final = (
    AttributeError, DecimalException, LookupError, OverflowError, TypeError, ValueError,
)  # fmt: skip
"""What these constructors raise for arguments of every kind."""


def make(code: int, module: str, name: str, raw: bytes) -> Any:
    """The native value of a payload, `None` where it is none of those here."""
    maker = _MAKERS.get((code, module, name))
    if maker is None or len(raw) > _LONGEST:
        return None
    try:
        return maker(ormsgpack.unpackb(raw))
    except REFUSALS:
        return None


def _uuid(tup: list[Any]) -> UUID | None:
    value = UUID(hex=tup[2])
    return value if len(tup) == 3 and value.hex == tup[2] else None


def _decimal(tup: list[Any]) -> Decimal | None:
    value = Decimal(tup[2])
    return value if len(tup) == 3 and type(tup[2]) is str and str(value) == tup[2] else None


def _date(tup: list[Any]) -> date | None:
    return date(*_ints(tup))


def _timedelta(tup: list[Any]) -> timedelta | None:
    days, seconds, micro = _ints(tup)
    value = timedelta(days, seconds, micro)
    return value if (value.days, value.seconds) == (days, seconds) else None


def _ints(tup: list[Any]) -> list[int]:
    args: list[int] = tup[2]
    if len(tup) != 3 or len(args) != 3 or any(type(a) is not int for a in args):
        raise ValueError
    return args


def _time(tup: list[Any]) -> time | None:
    kwargs = tup[2]
    value = time(**kwargs)
    # The ISO form, as which it is shown, has no fold; a zone is an object.
    plain = len(kwargs) == 6 and kwargs["tzinfo"] is None and kwargs["fold"] == 0
    return value if len(tup) == 3 and plain else None


def _datetime(tup: list[Any]) -> datetime | None:
    value = datetime.fromisoformat(tup[2])
    return value if tup[3:] == ["fromisoformat"] and value.isoformat() == tup[2] else None


_MAKERS: Final[dict[tuple[int, str, str], Any]] = {
    (0, "uuid", "UUID"): _uuid,
    (0, "decimal", "Decimal"): _decimal,
    (1, "datetime", "date"): _date,
    (1, "datetime", "timedelta"): _timedelta,
    (2, "datetime", "time"): _time,
    (3, "datetime", "datetime"): _datetime,
}
