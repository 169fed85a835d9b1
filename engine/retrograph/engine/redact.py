"""Credentials kept out of every view: by key name in metadata, by place in locations.

Metadata of LangGraph Server holds the request's headers, and people put what they like into
`configurable`. A key counts by its words ("X-Api-Key", "apiKey", "my_api_key" are one), and counts
of tokens are no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from retrograph.engine.values import MAX_DEPTH, MapValue, Obj, Secret, Value, map_of

REDACTED: Final = "[redacted]"

_WORDS: Final = frozenset(
    {
        "apikey", "authorization", "bearer", "cookie", "cookies", "credential", "credentials",
        "jwt", "passphrase", "passwd", "password", "passwords", "pwd", "secret", "secrets",
        "sslpassword",
    }
)  # fmt: skip
"""A key with one of these among its words holds a credential."""

_KEYS_OF: Final = frozenset(
    {
        "access", "account", "aes", "api", "auth", "client", "encryption", "function", "private",
        "secret", "service", "shared", "signing", "ssh", "subscription", "license",
    }
)  # fmt: skip
"""Before "key" these make it a credential; a "sort key" is none."""

_WHOLE: Final = frozenset({"auth", "key", "pass", "pw", "sas", "sig", "signature", "creds"})
"""Credentials where they are the whole key in a location's query; in metadata "auth" and "creds"
are, "key" and "pass" are words like others."""

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT: Final = re.compile(r"[^0-9A-Za-z]+")


class Redactor:
    """Replaces credentials by `[redacted]`, or nothing at all where not `enabled`.

    `keys` are further key names (of any spelling; `*` stands for anything), `patterns` regular
    expressions for parts of strings that must not be shown, wherever they stand.
    """

    def __init__(
        self,
        keys: Iterable[str] = (),
        enabled: bool = True,
        patterns: Iterable[str | re.Pattern[str]] = (),
    ) -> None:
        self.enabled = enabled
        self._keys = tuple(_plain(k) for k in keys)
        self._patterns = tuple(re.compile(p) for p in patterns)

    def __call__(self, value: Value) -> Value:
        """The same as `metadata`."""
        return self.metadata(value)

    def metadata(self, value: Value) -> Value:
        """An inert value with what stands under a telling key replaced, at any depth. What need
        not change is the same object."""
        return self._walk(value, 0) if self.enabled else value

    def location(self, text: str) -> str:
        """A URL, path or connection string without passwords, in its query neither."""
        return _location(text) if self.enabled else text

    def text(self, text: str) -> str:
        """A string with everything that matches the user's patterns replaced."""
        if self.enabled:
            for pattern in self._patterns:
                text = pattern.sub(REDACTED, text)
        return text

    def names(self, key: object) -> bool:
        """Whether a value under this key is a credential."""
        if isinstance(key, bytes):
            key = key.decode("latin-1")
        if not isinstance(key, str) or len(key) > 200:
            return False
        if _telling(key):
            return True
        plain = _plain(key)
        return any(plain == k or ("*" in k and fnmatchcase(plain, k)) for k in self._keys)

    def _walk(self, value: Value, depth: int) -> Value:
        if isinstance(value, str):
            return self.text(_location(value) if "://" in value else value)
        if depth > MAX_DEPTH:
            return value
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return self._sequence(value, depth)
        if isinstance(value, MapValue):
            pairs = [(k, self._under(k, v, depth)) for k, v in value.pairs]
            return map_of(pairs)
        if isinstance(value, Obj) and not isinstance(value, Secret):
            data = self._walk(value.data, depth + 1)
            if data is not value.data:
                return Obj(value.module, value.name, value.how, data, value.extra)
        return value

    def _mapping(self, value: Mapping[Any, Value], depth: int) -> Value:
        out = {k: self._under(k, v, depth) for k, v in value.items()}
        name = value.get("name", value.get("key"))
        if "value" in out and self.names(name):
            # A header as {"name": …, "value": …}.
            out["value"] = self._hide(value["value"], name)
        return value if all(out[k] is v for k, v in value.items()) else out

    def _sequence(self, value: Sequence[Value], depth: int) -> Value:
        if len(value) == 2 and isinstance(value[0], (str, bytes)) and self.names(value[0]):
            # A header as a pair.
            out = [value[0], self._hide(value[1], value[0])]
        else:
            out = [self._walk(v, depth + 1) for v in value]
        if all(a is b for a, b in zip(out, value, strict=True)):
            return value
        return tuple(out) if isinstance(value, tuple) else out

    def _under(self, key: object, value: Value, depth: int) -> Value:
        return self._hide(value, key) if self.names(key) else self._walk(value, depth + 1)

    def _hide(self, value: Value, key: object) -> Value:
        if value is None or value is True or value is False or value in ("", b"", [], {}):
            return value
        if isinstance(value, (int, float)) and not _numeric(key):
            return value
        return REDACTED


def _plain(key: str) -> str:
    """A key without case and separators; stars stay."""
    return re.sub(r"[^0-9a-z*]", "", key.lower())


@lru_cache(maxsize=4096)
def _telling(key: str) -> bool:
    words = [w.lower() for w in _SPLIT.split(_CAMEL.sub(" ", key)) if w]
    if not words:
        return False
    joined = "".join(words)
    if joined in (
        "auth",
        "creds",
        "xapikey",
        "accesstoken",
        "refreshtoken",
        "idtoken",
        "authtoken",
    ):
        return True
    if words[-1] == "token" or not _WORDS.isdisjoint(words):
        return True
    return any(second in ("key", "keys") and first in _KEYS_OF for first, second in pairwise(words))


def _numeric(key: object) -> bool:
    """Whether a number under this key may be the credential: a password can be 1234, while
    "max_token" is a limit."""
    return "token" not in str(key).lower()


_DSN: Final = re.compile(r"(?i)(\b[\w.-]+)(\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&;#'\"]+)")
_IS_DSN: Final = re.compile(r"\s*\w+\s*=")
_URL: Final = re.compile(r"([A-Za-z][\w+.-]*://)([^\s\"'<>]*)")
_STARS: Final = "***"


def _location(text: str) -> str:
    text = _URL.sub(lambda m: m[1] + _authority(m[1], m[2]), text)
    # A file's path may hold "=" too.
    if "=" in text and ("://" in text or _IS_DSN.match(text)):
        return _DSN.sub(_parameter, text)
    return text


def _parameter(match: re.Match[str]) -> str:
    hidden = _telling(match[1]) or match[1].lower() in _WHOLE
    return f"{match[1]}{match[2]}{_STARS}" if hidden else match[0]


def _authority(scheme: str, rest: str) -> str:
    """What follows `scheme://`, with the password (and for the web any user) replaced.

    A password that was not percent-encoded may hold "@", "/", "?": up to the last "@" before the
    query it is taken for a part of it where the host could not begin earlier.
    """
    if scheme.lower() == "file://":
        return rest
    end = re.search(r"[/?#]", rest)
    authority = rest[: end.start()] if end else rest
    if "@" not in authority:
        # "u:p/w@host": what looks like a host has no port but a word.
        port = authority.rpartition(":")[2] if ":" in authority else ""
        if not port or port.isdigit() or authority.startswith("[") or "@" not in rest:
            return rest
        authority = rest[: rest.rfind("@") + 1]
    userinfo, _, host = authority.rpartition("@")
    tail = host + rest[len(authority) :]
    user, colon, _ = userinfo.partition(":")
    if colon:
        return f"{user}:{_STARS}@{tail}"
    return f"{_STARS}@{tail}" if scheme.lower().startswith("http") else f"{user}@{tail}"
