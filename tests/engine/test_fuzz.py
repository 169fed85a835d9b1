"""Real values, damaged at random: whatever comes, no exception, no hang, and it can be shown.

    RETROGRAPH_FUZZ=1000000 python -m pytest tests/engine/test_fuzz.py

is the number of cases (2,000 by default), RETROGRAPH_FUZZ_SEED the first of their seeds.
"""

from __future__ import annotations

import json
import os
import random
from functools import cache

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from blobs.attacks import corpus, read
from blobs.kinds import VALUES
from retrograph.engine.model import Typed

CASES = int(os.environ.get("RETROGRAPH_FUZZ", "2000"))
SEED = int(os.environ.get("RETROGRAPH_FUZZ_SEED", "1"))
SHARES = 8
_INTERESTING = (
    b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x05",
    b"\xdb\xff\xff\xff\xff", b"\x91", b"\x81", b"\xc0", b"\xff", b"\x00", b"\xed\xa0\x80",
    b"[", b"{", b'"', b"\\ud800", b'{"lc":2,"type":"constructor","id":["os","system"]}', b"NaN",
)  # fmt: skip


@cache
def seeds() -> list[Typed]:
    """Real blobs of every type, and those attacks that are small."""
    official = JsonPlusSerializer()
    found = [Typed(*official.dumps_typed(v)) for v in VALUES.values()]
    checkpoint = {
        "v": 4,
        "channel_values": {"state": VALUES["state"], "join:a+b:c": {"a"}, "__pregel_tasks": [
            VALUES["send"]]},
        "channel_versions": {"state": "1.0"},
        "versions_seen": {"a": {"state": "1.0"}},
        "updated_channels": ["state"],
    }  # fmt: skip
    found += [Typed(*official.dumps_typed(checkpoint))] * 5
    found += [t for t in corpus().values() if len(t.data) < 20_000]
    return found


def damaged(rng: random.Random, typed: Typed) -> Typed:
    data = bytearray(typed.data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data[at : at + 1] = bytes((rng.randrange(256),))
            case 1:
                del data[at : at + rng.choice((1, 2, 9, len(data)))]
            case 2:
                data[at:at] = rng.choice(_INTERESTING)
            case 3:
                data[at:at] = data[: rng.randrange(len(data) + 1)][:2000]
            case 4:
                other = rng.choice(seeds()).data
                begin = rng.randrange(len(other) + 1)
                data[at:at] = other[begin : begin + rng.randrange(200)]
            case 5:
                if at < len(data):
                    data[at] ^= 1 << rng.randrange(8)
            case _:
                data[at : at + 4] = rng.randbytes(4)
    kind = typed.type
    if rng.random() < 0.05:
        kind = rng.choice(("msgpack", "json", "pickle", "bytes", "null", None, "empty", "x+aes"))
    return Typed(kind, bytes(data[:50_000]))


@pytest.mark.parametrize("share", range(SHARES))
def test_damaged_values(share: int) -> None:
    for case in range(share, CASES, SHARES):
        rng = random.Random(SEED * 1_000_003 + case)
        typed = damaged(rng, rng.choice(seeds()))
        try:
            json.dumps(read(typed))
        except Exception as e:
            raise AssertionError(f"seed {SEED}, case {case}: {typed!r}") from e
