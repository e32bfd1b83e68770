#!/usr/bin/env python3
"""Learns the weights of `crates/search/model/ranker.json`, and reports each set of questions from weights that never saw it.

Over every question set in the folders, laid out as `measure.py` tells, and `tools/SET/records.jsonl` beside `queries.jsonl`,
`planner bench features` writes what the ranker knows of each candidate. Sets of schemas with descriptions are read a second
time without them. The weights are found by coordinate ascent from the order of the first pass, in steps of 0.3, 0.1 and
0.05: a set of questions (those whose `dataset` begins with the same word) counts once, whatever its size, and what it loses
against the first pass counts three times, so that no set pays for another.

    python3 -m venv VENV && VENV/bin/pip install numpy
    cargo build --release
    VENV/bin/python benches/retrieval/fit.py --planner target/release/planner --from FOLDER --from FOLDER
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile

import numpy as np

import measure

# What each kind may weigh. Pulling is bounded: what joins to the best comes behind the best, not before it.
FEATURES = {
    "table": {"pulled": 0.3, "bridged": 0.4, "name": 0.5, "centroid": 0.3, "coverage": 0.3, "members_said": 0.5, "body": 0.3, "value": 0.5},
    "operation": {"pairs": 0.3, "action": 0.1, "description_said": 0.1},
    "document": {"pairs": 0.3, "missing": 0.3},
}
# Of a question that is nothing but the name of a value no set has enough to learn from: what holds the value is the answer.
FIXED = {"table": {"value_alone": 1.0}}
STEPS = [0.3, 0.1, 0.05]
LOSS = 3.0
KINDS = {"schema": "table", "api": "operation", "tools": "operation", "docs": "document"}


def sets(root, roots):
    """Each set of questions of a folder: its name, its kind, the flags that name what is searched, and the questions.
    Questions without databases beside them are those about the set of the same name in another folder."""
    schemas = {
        name: yaml
        for other in roots
        for name, yaml, _ in measure.catalogs(other, needs_questions=False)
        if (other / name / "databases").exists()
    }
    for name, yaml, _ in measure.catalogs(root, needs_questions=False):
        folder = root / name
        kind = KINDS.get(name.split("/")[0])
        yaml = schemas.get(name, yaml)
        for queries in sorted(folder.glob("queries*.jsonl")):
            if kind and "none" not in queries.stem:
                yield f"{name}/{queries.stem}", kind, yaml, None, queries
                if any(folder.glob("databases/*/descriptions.json")):
                    bare = yaml.replace(measure.DESCRIBED, "")
                    yield f"{name}/{queries.stem} (names)", kind, bare, None, queries
    for records in sorted(root.glob("tools/*/records.jsonl")):
        yield str(records.parent.relative_to(root)), "operation", None, records, records.parent / "queries.jsonl"


class Group:
    """The questions of one family in one set."""

    def __init__(self, family, name):
        self.family, self.name, self.questions = family, name, []

    def goal(self, weights):
        """The mean of recall@5, strict recall@5, recall@10, strict recall@10 and nDCG@10."""
        return float(np.mean([goal(values @ weights, grades, things, needed) for values, grades, things, needed in self.questions]))


def goal(scores, grades, things, needed):
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(things[order], return_index=True)
    grades = grades[order][np.sort(first)]
    found = lambda depth: int((grades[:depth] > 0).sum())
    discount = 1 / np.log2(np.arange(2, 12))
    best = sorted(list(grades[grades > 0]) + [1.0] * max(0, needed - found(len(grades))), reverse=True)[:10]
    gain = (grades[:10] * discount[: len(grades[:10])]).sum() / (np.array(best) * discount[: len(best)]).sum()
    return (found(5) / needed + (found(5) == needed) + found(10) / needed + (found(10) == needed) + gain) / 5


def read(path, name, names, limit, groups):
    """Adds the questions of a file of `planner bench features` to the groups."""
    data = path.read_bytes()
    end = data.index(b"\n")
    head = json.loads(data[:end])
    rows = np.frombuffer(data, dtype="<f4", offset=end + 1).reshape(-1, len(head["features"]) + 2)
    columns = [2 + head["features"].index(feature) for feature in ["base", *names]]
    fixed = [(2 + head["features"].index(feature), weight) for feature, weight in FIXED.get(head["kind"], {}).items()]
    found, at = {}, 0
    for question in head["questions"]:
        own = rows[at : at + question["candidates"]]
        at += question["candidates"]
        if question["needed"] and len(own):
            family = (question["dataset"] or name).split("-")[0]
            group = found.setdefault(family, Group(family, name))
            values = own[:, columns]
            values[:, 0] += sum(own[:, column] * weight for column, weight in fixed)
            group.questions.append((values, own[:, 0], own[:, 1], question["needed"]))
    for group in found.values():
        if len(group.questions) > limit:
            group.questions = random.Random(1).sample(group.questions, limit)
        groups.append(group)


def ascend(groups, limits):
    """The weights behind that of the first pass, which is 1."""
    before = {id(group): group.goal(np.eye(len(limits) + 1)[0]) for group in groups}
    families = {}
    for group in groups:
        families.setdefault(group.family, []).append(group)

    def value(weights):
        gains = {id(group): group.goal(weights) - before[id(group)] for group in groups}
        gain = lambda group: min(gains[id(group)], gains[id(group)] * LOSS)
        return float(np.mean([np.mean([gain(group) for group in own]) for own in families.values()]))

    weights, best = np.eye(len(limits) + 1)[0], 0.0
    for _ in range(4):
        start = best
        for at, limit in enumerate(limits, 1):
            for step in STEPS:
                for change in (step, -step):
                    tried = weights.copy()
                    tried[at] = round(np.clip(tried[at] + change, -limit, limit), 2)
                    found = value(tried)
                    if found > best + 1e-4:
                        weights, best = tried, found
        if best - start < 5e-4:
            break
    return weights


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True, help="the binary, built in release")
    parser.add_argument("--from", required=True, type=pathlib.Path, dest="roots", action="append", help="a folder with sets")
    parser.add_argument("--questions", type=int, default=150, help="at most so many of a family and a set [150]")
    parser.add_argument("--out", type=pathlib.Path, help="write the weights to this file")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.planner).resolve())

    model = {}
    with tempfile.TemporaryDirectory() as temporary:
        found = {kind: [] for kind in FEATURES}
        roots = [root.resolve() for root in arguments.roots]
        everything = [entry for root in roots for entry in sets(root, roots)]
        for at, (name, kind, yaml, records, queries) in enumerate(everything):
            folder = pathlib.Path(temporary) / str(at)
            folder.mkdir()
            flags = ["--records", str(records)] if records else ["--catalog", str(folder / "catalog.yaml")]
            if yaml:
                (folder / "catalog.yaml").write_text(yaml + "\n")
            out = folder / "features"
            command = [binary, "bench", "features", *flags, "--queries", str(queries), "--kind", kind, "--out", str(out)]
            subprocess.run(command, check=True, capture_output=True, env={"HOME": str(folder), "PATH": os.environ["PATH"]})
            read(out, name, list(FEATURES[kind]), arguments.questions, found[kind])
            out.unlink()

    print("| kind | left out | set | questions | first pass | learned without it |")
    print("|---|---|---|---:|---:|---:|")
    for kind, limits in FEATURES.items():
        groups = found[kind]
        for family in sorted({group.family for group in groups}):
            weights = ascend([group for group in groups if group.family != family], list(limits.values()))
            for group in (group for group in groups if group.family == family):
                before, after = group.goal(np.eye(len(limits) + 1)[0]), group.goal(weights)
                print(f"| {kind} | {family} | {group.name} | {len(group.questions)} | {before:.3f} | {after:.3f} |", flush=True)
        weights = ascend(groups, list(limits.values()))
        model[kind] = {name: weight for name, weight in zip(["base", *limits], weights.tolist()) if weight}
        model[kind] |= FIXED.get(kind, {})
    text = json.dumps(model, indent=2) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
