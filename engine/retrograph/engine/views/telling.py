"""Which keys tell that their value is a credential, and where in a location one stands.

A key counts by its words ("X-Api-Key", "apiKey", "my_api_key" are one), and counts of tokens are
no tokens.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

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


@lru_cache(maxsize=4096)
def telling(key: str) -> bool:
    """Whether a value under this key is a credential."""
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


def numeric(key: object) -> bool:
    """Whether a number under this key may be the credential: a password can be 1234, while
    "max_token" is a limit."""
    return "token" not in str(key).lower()


# Names and schemes of bounded length: a text without any must not be searched from each of its
# characters to its end.
_DSN: Final = re.compile(
    r"(?i)(\b[\w.-]{1,128})(\s{0,99}=\s{0,99})('(?:[^'\\]|\\.)*'|[^\s&;#'\"]+)"
)
_IS_DSN: Final = re.compile(r"\s*\w+\s*=")
_URL: Final = re.compile(r"([A-Za-z][\w+.-]{0,31}://)([^\s\"'<>]*)")
_STARS: Final = "***"


def without_passwords(text: str) -> str:
    """A URL, path or connection string with its passwords as stars, in its query too."""
    text = _URL.sub(lambda m: m[1] + _authority(m[1], m[2]), text)
    # A file's path may hold "=" too.
    if "=" in text and ("://" in text or _IS_DSN.match(text)):
        return _DSN.sub(_parameter, text)
    return text


def _parameter(match: re.Match[str]) -> str:
    hidden = telling(match[1]) or match[1].lower() in _WHOLE
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
