"""LangGraph's encryption: AES in EAX mode, stored as nonce (16 bytes) ‖ tag (16) ‖ ciphertext.

Format: langgraph-checkpoint, `langgraph/checkpoint/serde/encrypted.py`. pycryptodome is an extra,
imported when an encrypted row and a key meet.
"""

from __future__ import annotations

import os
from typing import Final

from retrograph.engine.errors import ConfigError, DecodeError

ENV: Final = "LANGGRAPH_AES_KEY"
SUFFIX: Final = "+aes"
LOCKED: Final = "encrypted (aes)"
WRONG_KEY: Final = "encrypted (aes): wrong key"
NO_LIBRARY: Final = 'encrypted (aes): pycryptodome is not installed (pip install "retrograph[aes]")'

_HEAD: Final = 32


def key_from_env() -> bytes | None:
    """The key in `LANGGRAPH_AES_KEY`, `None` where it is not set. Raises `ConfigError` for one of
    a length that AES does not have."""
    text = os.environ.get(ENV)
    return check(text.encode()) if text else None


def check(key: bytes) -> bytes:
    if len(key) not in (16, 24, 32):
        raise ConfigError(f"{ENV} must be 16, 24 or 32 bytes long; it has {len(key)}.")
    return key


def decrypt(key: bytes, data: bytes) -> bytes:
    """The plain bytes. Raises `DecodeError` (its message is the reason alone)."""
    try:
        from Crypto.Cipher import AES
    except ImportError:
        raise DecodeError(NO_LIBRARY) from None
    if len(data) < _HEAD:
        raise DecodeError("encrypted (aes): truncated")
    cipher = AES.new(key, AES.MODE_EAX, nonce=data[:16])
    try:
        return cipher.decrypt_and_verify(data[_HEAD:], data[16:_HEAD])
    except ValueError:
        raise DecodeError(WRONG_KEY) from None


def encrypt(key: bytes, data: bytes) -> bytes:
    """The reverse, with a fresh nonce."""
    try:
        from Crypto.Cipher import AES
    except ImportError:
        raise DecodeError(NO_LIBRARY) from None
    cipher = AES.new(key, AES.MODE_EAX, nonce=os.urandom(16))
    body, tag = cipher.encrypt_and_digest(data)
    return cipher.nonce + tag + body
