"""`python -m zoo OUT_DIR`: see the package."""

import argparse
from pathlib import Path

from zoo.graphs import chance
from zoo.write import sqlite_savers, write


def main() -> None:
    parser = argparse.ArgumentParser(prog="zoo")
    parser.add_argument("out", type=Path)
    parser.add_argument("--durability", choices=["async", "sync"], default="async")
    parser.add_argument("--only", action="append", help="name of a scenario")
    parser.add_argument("--seeds", metavar="FROM:TO", help="draw these graphs by lot, nothing else")
    arguments = parser.parse_args()
    if arguments.seeds:
        chance.SEEDS = list(range(*map(int, arguments.seeds.split(":"))))
        arguments.only = ["chance"]
    arguments.out.mkdir(parents=True, exist_ok=True)
    write(
        sqlite_savers(arguments.out / "zoo.db"),
        arguments.out / "oracle.json",
        durability=arguments.durability,
        only=arguments.only,
    )


main()
