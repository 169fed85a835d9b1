"""A new value for a channel against its annotated type: made to fit, or refused with its path."""

from __future__ import annotations

import warnings
from typing import Any

from .faults import RequestError

_MISSING: Any = object()


def fitted(name: str, channel: Any, value: Any, old: Any = _MISSING) -> Any:
    """The value as the channel's type has it: a dict as the dataclass or model, a list as the set.

    `old` is the value that it replaces. What already did not fit there is let be, since LangGraph
    does not enforce annotations. Raises `RequestError`.
    """
    value = messages_made(channel, value)
    adapter = _adapter(getattr(channel, "typ", None))
    if adapter is None:
        return value
    wrong = _wrong(adapter, value)
    if wrong is None:
        return adapter.validate_python(value)
    known = set() if old is _MISSING else {_where(e) for e in _wrong(adapter, old) or ()}
    fresh = [error for error in wrong if _where(error) not in known]
    if not fresh:
        return value
    raise RequestError(_sentence(name, fresh))


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
        found = [(str(e["loc"][0]) if e["loc"] else "", _one(e)) for e in _errors(error)]
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


def _wrong(adapter: Any, value: Any) -> Any:
    """The errors of a value; `None` where it fits."""
    from pydantic import ValidationError

    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return _errors(error)
    except Exception:  # a validator of the user's that fails in its own way is not ours to judge
        return None
    return None


def _errors(error: Any) -> list[Any]:
    return list(error.errors(include_url=False, include_context=False, include_input=False))


def _where(error: Any) -> tuple[Any, ...]:
    return (*error["loc"], error["type"])


def _one(error: Any) -> str:
    message = str(error["msg"])
    return message[:1].lower() + message[1:]


def _sentence(name: str, errors: list[Any]) -> str:
    first = errors[0]
    # Union branches and the like are no keys: they are named in brackets by Pydantic.
    path = "/".join(str(part) for part in first["loc"] if not _is_branch(part))
    where = f"/{name}" + (f"/{path}" if path else "")
    more = f" ({len(errors) - 1} more do not fit either)" if len(errors) > 1 else ""
    return f"The value does not fit at {where}: {_one(first)}{more}."


def _is_branch(part: Any) -> bool:
    return isinstance(part, str) and ("[" in part or "(" in part)
