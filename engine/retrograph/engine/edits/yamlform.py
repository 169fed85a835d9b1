"""A state as text for an editor: YAML, since it is read and written most easily by hand.

Values are those of `values.to_json`, so typed objects keep their `$type`. Texts that look like
times stay texts. Dumped and loaded by libyaml where PyYAML has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from retrograph.engine.errors import UsageError
from retrograph.engine.values import Value, to_json

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"
_WIDE: Final = 100


class _Reader(_Loader):  # type: ignore[misc]
    """Without timestamps: `2024-01-01` is text, as it is in JSON."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in known if tag != _TIMESTAMP]
        for first, known in _Loader.yaml_implicit_resolvers.items()
    }


class _Writer(_Dumper):  # type: ignore[misc]
    """Long texts as blocks, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _PlainReader(yaml.SafeLoader):
    yaml_implicit_resolvers = _Reader.yaml_implicit_resolvers


class _PlainWriter(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    # A block shows lines as lines; it can hold neither blanks at line ends nor odd characters.
    lines = text.split("\n")
    block = len(lines) > 1 and text.isprintable() is False and _fits_block(lines)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


def _fits_block(lines: list[str]) -> bool:
    return all(line.isprintable() and line == line.rstrip() for line in lines)


for _writer in (_Writer, _PlainWriter):
    _writer.add_representer(str, _text)


def to_yaml(values: Mapping[str, Value]) -> str:
    """Values by channel as text."""
    data = {channel: to_json(value) for channel, value in values.items()}
    options: Any = {"allow_unicode": True, "sort_keys": False, "width": _WIDE}
    try:
        return str(yaml.dump(data, Dumper=_Writer, **options))
    except UnicodeEncodeError:  # libyaml takes no lone surrogates
        return str(yaml.dump(data, Dumper=_PlainWriter, **{**options, "allow_unicode": False}))


def from_yaml(text: str, what: str = "The text") -> dict[str, Any]:
    """Values by channel, as `from_json` takes them. JSON is YAML too.

    Raises `UsageError` with the line where it is none, or no map of channels.
    """
    try:
        try:
            data = yaml.load(text, Loader=_Reader)
        except (yaml.YAMLError, UnicodeEncodeError):
            # libyaml takes no lone surrogates, and says less of where it is wrong.
            data = yaml.load(text, Loader=_PlainReader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UsageError(f"{what} is not valid YAML{where}: {error.problem}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{what} is not valid YAML: {error}.") from error
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise UsageError(f"{what} must be a map from channels to their values.")
    return data


def commented(lines: Sequence[str]) -> str:
    """Lines as YAML comments."""
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)
