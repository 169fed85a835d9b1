"""A new value for a channel against its annotated type: made to fit, or refused with its path."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

from .faults import RequestError

_MISSING: Any = object()
_DEEP = 100
"""Levels of a value that are looked into."""


def fitted(name: str, channel: Any, value: Any, old: Any = _MISSING) -> Any:
    """The value as the channel's type has it: a dict as the dataclass or model, a list as the set.

    `old` is the value that it replaces. What already did not fit there is let be, since LangGraph
    does not enforce annotations. Raises `RequestError`.
    """
    value = messages_made(channel, value)
    adapter = _adapter(getattr(channel, "typ", None))
    wrong = _wrong(adapter, value)
    if not wrong:
        return value if adapter is None else adapter.validate_python(value)
    known = set() if old is _MISSING else {_where(e) for e in _wrong(adapter, old)}
    fresh = [error for error in wrong if _where(error) not in known]
    if not fresh:
        return value
    raise RequestError(_sentence(name, value, fresh))


def fits_schema(schema: Any, values: dict[str, Any]) -> list[tuple[str, str]]:
    """What a Pydantic state refuses of its values: (channel, sentence). Runs its validators."""
    validate = getattr(schema, "model_validate", None)
    if validate is None:
        return []
    fields = getattr(schema, "model_fields", {})
    try:
        validate({name: value for name, value in values.items() if name in fields})
    except Exception as error:
        told = getattr(error, "errors", None)
        if told is None:
            return []
        found = [(str(e["loc"][0]) if e["loc"] else "", _one(e)) for e in _told(error)]
        return [(name, why) for name, why in found if not name or name in values]
    return []


def messages_made(channel: Any, value: Any) -> Any:
    """Dicts among a channel of messages as the messages that they describe."""
    function = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    if "messages" not in str(getattr(function, "__qualname__", "")):
        return value
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return value
    from langchain_core.messages import convert_to_messages

    try:
        return [
            convert_to_messages([item])[0] if isinstance(item, dict) else item for item in value
        ]
    except Exception as error:
        raise RequestError(f"A message cannot be made: {error}.") from error


def _adapter(annotated: Any) -> Any:
    """What validates a type; `None` for types that Pydantic does not know."""
    if annotated is None or annotated is Any:
        return None
    from pydantic import ConfigDict, TypeAdapter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for config in (ConfigDict(arbitrary_types_allowed=True), None):
            try:
                return TypeAdapter(annotated, config=config)
            except Exception:
                continue
    return None


def _wrong(adapter: Any, value: Any) -> list[Any]:
    """The errors of a value, and of what it holds."""
    return [*_errors(adapter, value), *_inside(value, ())]


def _inside(value: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """The errors of the fields of models and dataclasses. These were made of stored data as it
    was, as LangGraph does, and an instance that is there already is not looked into by Pydantic."""
    fields = _fields(value)
    if len(path) > _DEEP:
        return
    if fields is not None:
        for error in _errors(_adapter(type(value)), fields):
            yield {**error, "loc": (*path, *error["loc"])}
        below: Any = fields.items()
    elif isinstance(value, dict):
        below = value.items()
    else:
        below = enumerate(value) if isinstance(value, (list, tuple)) else ()
    for name, part in below:
        yield from _inside(part, (*path, name))


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a model or a dataclass, as its constructor takes them; `None` of others."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    known = getattr(type(value), "model_fields", None)
    if not isinstance(known, dict):
        return None
    stated = vars(value)
    aliased = {name: field.validation_alias or name for name, field in known.items()}
    if not all(isinstance(alias, str) for alias in aliased.values()):
        return None
    return {aliased[name]: stated[name] for name in known if name in stated}


def _errors(adapter: Any, value: Any) -> list[Any]:
    if adapter is None:
        return []
    from pydantic import ValidationError

    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return _told(error)
    except Exception:  # a validator of the user's that fails in its own way is not ours to judge
        return []
    return []


def _told(error: Any) -> list[Any]:
    return list(error.errors(include_url=False, include_context=False, include_input=False))


def _where(error: Any) -> tuple[Any, ...]:
    return (*error["loc"], error["type"])


def _one(error: Any) -> str:
    message = str(error["msg"])
    return message[:1].lower() + message[1:]


def _sentence(name: str, value: Any, errors: list[Any]) -> str:
    first = errors[0]
    path = "".join(f"/{part}" for part in _keys(value, first))
    more = f" ({len(errors) - 1} more do not fit either)" if len(errors) > 1 else ""
    return f"The value does not fit at /{name}{path}: {_one(first)}{more}."


def _keys(value: Any, error: Any) -> Iterator[Any]:
    """Where an error is. What Pydantic names besides, the branch of a union, is no key."""
    for part in error["loc"]:
        inside = _part(value, part)
        if inside is not _MISSING:
            value = inside
            yield part
        elif part == error["loc"][-1] and error["type"].endswith("missing"):
            yield part


def _part(value: Any, name: Any) -> Any:
    fields = value if isinstance(value, dict) else _fields(value)
    if fields is not None:
        return fields.get(name, _MISSING)
    known = isinstance(value, (list, tuple)) and isinstance(name, int) and name < len(value)
    return value[name] if known else _MISSING
