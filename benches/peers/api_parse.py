#!/usr/bin/env python3
"""The same API descriptions read by Prospector and by known Python parsers, in one run: seconds for each megabyte.

OpenAPI and Swagger: PyYAML (its C loader) or json, then prance, which resolves every `$ref` (with `openapi-spec-validator`
behind it, as its users have it). Prance is stopped after --timeout seconds a file, and may refuse what is not strictly
valid; the script counts that. GraphQL: graphql-core's `build_schema`, not validated. Prospector reads each file into
operations with their compact shapes; the example prints the time for reading the file, without starting the process.

What it does not show: what the peers make of the tree afterwards; memory. Each file is read --rounds times by either side,
and the fastest counts.

It makes a virtual environment in $XDG_CACHE_HOME/prospector/peers-api (or ~/.cache/...) and installs there, by pip: PyYAML,
prance, openapi-spec-validator, graphql-core.

    cargo build --release -p prospector-api --example parse
    benches/peers/api_parse.py --parse target/release/examples/parse [--rounds N] [--timeout S] FILE...
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import venv

PACKAGES = ["PyYAML", "prance", "openapi-spec-validator", "graphql-core"]


def reenter() -> None:
    """Goes on in the virtual environment, which is made where there is none."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    home = cache / "prospector" / "peers-api"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (home / "ready").write_text("\n".join(PACKAGES))
    if pathlib.Path(sys.prefix) != home:
        os.execv(python, [str(python), __file__, *sys.argv[1:]])


class Late(Exception):
    """A file took longer than is waited for."""


def late(*_) -> None:
    raise Late


def resolved(path: str) -> None:
    import prance

    prance.ResolvingParser(path, backend="openapi-spec-validator", strict=False,
                           recursion_limit_handler=lambda *_: {})


def parsed(path: str) -> None:
    import yaml

    text = pathlib.Path(path).read_text(encoding="utf-8")
    json.loads(text) if path.endswith(".json") else yaml.load(text, Loader=yaml.CSafeLoader)


def built(path: str) -> None:
    import graphql

    graphql.build_schema(pathlib.Path(path).read_text(encoding="utf-8"), assume_valid=True, assume_valid_sdl=True)


def timed(work, path: str, rounds: int, timeout: int) -> float | str:
    """The fastest of the rounds in seconds, or why there is none."""
    best = None
    for _ in range(rounds):
        signal.alarm(timeout)
        started = time.perf_counter()
        try:
            work(path)
        except Late:
            return "late"
        except Exception as error:  # noqa: BLE001: whatever a peer raises, it did not read the file
            return type(error).__name__
        finally:
            signal.alarm(0)
        took = time.perf_counter() - started
        best = took if best is None else min(best, took)
    return best


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--parse", required=True, help="the example `parse` of prospector-api, built in release")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--timeout", type=int, default=60)
    arguments.add_argument("files", nargs="+")
    chosen = arguments.parse_args()
    signal.signal(signal.SIGALRM, late)

    ours: dict[str, dict] = {}
    for _ in range(chosen.rounds):
        told = subprocess.run([chosen.parse, *chosen.files], check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, told.splitlines()):
            known = ours.get(line["file"])
            if known is None or line["seconds"] < known["seconds"]:
                ours[line["file"]] = line

    peers = {"openapi": [("PyYAML or json, the tree alone", parsed), ("prance, references resolved", resolved)],
             "graphql": [("graphql-core, build_schema", built)]}
    for kind, readers in peers.items():
        files = [file for file in chosen.files if (pathlib.Path(file).suffix in {".graphql", ".graphqls"}) == (kind == "graphql")]
        for name, reader in readers:
            times = {file: timed(reader, file, chosen.rounds, chosen.timeout) for file in files}
            read = [file for file, took in times.items() if isinstance(took, float) and ours[file]["loaded"]]
            failed: dict[str, int] = {}
            for took in times.values():
                if isinstance(took, str):
                    failed[took] = failed.get(took, 0) + 1
            megabytes = sum(ours[file]["bytes"] for file in read) / 1e6
            if not megabytes:
                continue
            mine = sum(ours[file]["seconds"] for file in read)
            theirs = sum(times[file] for file in read)
            print(f"{kind}: {len(read)} files that both read, {megabytes:.2f} MB; {name}: {theirs / megabytes:.3f} s/MB; "
                  f"Prospector: {mine / megabytes:.3f} s/MB; ratio {theirs / mine:.1f}; not read by the peer: {failed or 0}")
        loaded = [ours[file] for file in files if ours[file]["loaded"]]
        if loaded:
            print(f"{kind}: Prospector read {len(loaded)} of {len(files)} files, "
                  f"{sum(line['operations'] for line in loaded)} operations")


if __name__ == "__main__":
    reenter()
    main()
