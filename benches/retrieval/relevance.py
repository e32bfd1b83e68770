#!/usr/bin/env python3
"""Learns the weights of `crates/search/model/relevance.json`, and reports each family of questions from weights that never
saw it.

Over the question sets in the folders, laid out as `fit.py` tells, `planner bench features --evidence` writes what the best hits
of each question are judged by. Each set is read whole and in parts: halves and eighths of its databases, APIs, tools,
documents or skills, chosen by lot, and some of its databases and APIs alone. A question of whose needs a part holds nothing is
one that it cannot answer; so are those of `queries-none.jsonl` beside the
questions or `none/SET.jsonl`, or else those of the next set of the kind.

Two regressions a kind, with a ridge: whether anything answers the question, where a family or a set counts once for each size
of catalog, and whether a hit is needed where something does. Then the intercept of the first is moved so that the floor keeps
95 of 100 questions (of documents 97) of the families that were left out.
Where `GIVEN` has weights for a kind, those stay as they are.

Beside the error of each family stand the error that relevance would show on so many hits if it were right (`chance`), and the error
on the other questions of the family once ten of them were learned from, as `planner bench calibration --learn` does.

    python3 -m venv VENV && VENV/bin/pip install numpy
    cargo build --release
    VENV/bin/python benches/retrieval/relevance.py --planner target/release/planner --from FOLDER --from FOLDER
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import fit
from measure import lot, sample

FLOOR = 0.3
# What is to be kept: where questions of other domains are told well from one's own, that costs nothing.
KEPT = {"table": 0.95, "document": 0.97}
# Whether anything answers: as it was learned earlier, on other parts of half of these sets. For operations and skills this refuses
# more than what is learned here. For tables and documents what is learned here is better, but it is less sure of itself, so that
# among a dozen things of several kinds the wrong kind comes first; without an entry here it is learned.
GIVEN = {
    "table": {"intercept": -5.58, "strength": 6.34, "cosine": 3.98, "centroid": 5.98, "few": 2.41},
    "operation": {"intercept": -7.23, "strength": 5.62, "cosine": 5.13, "centroid": 10.72, "few": 4.15},
    "document": {"intercept": -5.39, "strength": 6.79, "cosine": 4.10, "few": 2.30},
    "skill": {"intercept": -3.79, "strength": 1.93, "cosine": 5.27, "few": 0.77},
}
# So many questions of a catalog are learned from, drawn so many times; and how sure one is before, see recalibration.rs.
OWN_QUESTIONS = 10
DRAWS = 30
PRIOR = np.array([0.5, 5.0])
BINS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
RIDGE = 3.0
# How many of its parts a set is read in: by which share of it, and as which draw; then single databases and APIs.
PARTS = [("half", 0.5), ("eighth", 0.125), ("eighth", 0.125)]
SINGLES = 4
# What says something for a kind: what its parents are, which are not looked at for all, and how many wishes a question has. There
# are too few sets of documents to learn what their number means, or what a word that is missing does.
ANSWERABLE = {
    "table": ["strength", "cosine", "centroid", "few", "known", "missing"],
    "document": ["strength", "cosine", "known"],
}
# More of these cannot speak against an answer or a need, and a later place not for one: where a regression says so, it is by
# chance of the sets, and it is learned again without. (What is missing may be a value to filter by, as own questions have.)
FOR = {"strength", "cosine", "centroid", "known", "lead", "behind", "gap", "share", "wide_share"}
AGAINST = {"place"}
PLACE = ["lead", "behind", "gap", "share", "wide_share", "place"]
NEEDED = {
    "table": [*PLACE, "few", "few_behind"],
    "operation": [*PLACE, "few", "few_behind", "wishes", "wishes_behind"],
    "document": PLACE,
    "skill": PLACE,
}


class Asked:
    """A question in one catalog: what is known of it, of whom it is, and what came of it."""

    def __init__(self, line, heads, family, name, part):
        self.family, self.set, self.part = family, name, part
        self.answerability = dict(zip(heads["answerability"], line["answerability"]))
        self.hits = [dict(zip(heads["need"], hit["need"])) for hit in line["hits"]]
        self.right = np.array([hit["right"] for hit in line["hits"]], dtype=float)
        self.gold = line["gold"]
        # Part of what it needs is no case of either.
        self.state = None if 0 < line["held"] < line["gold"] else int(line["held"] > 0)


def sources(yaml, records, root):
    """What a set is made of, by name: its databases, specifications, documents and skills, or the parents of its records."""
    if records:
        return sorted({json.loads(line).get("parent") or json.loads(line)["id"] for line in records.open()})
    if "databases" in yaml:
        return sorted(path.name for path in (root / "databases").iterdir())
    if "apis" in yaml:
        return sorted(path.name for path in (root / "specs").iterdir())
    if "documents" in yaml:
        return sorted(str(path.relative_to(root / "docs")) for path in (root / "docs").rglob("*.md"))
    return sorted(str(path.parent.relative_to(root / "skills")) for path in (root / "skills").rglob("SKILL.md"))


def is_there(line, folder):
    """Whether a line of the YAML names files that are there, if it names any by a pattern."""
    pattern = line.split('path: "')[1].split('"')[0] if "*" in line else ""
    return not pattern or any(folder.glob(str(pathlib.Path(pattern).relative_to(folder))))


def copy_part(yaml, records, root, folder, chosen):
    """The same set with only some of what it is made of: the flags that name it."""
    if records:
        out = folder / "records.jsonl"
        lines = [line for line in records.open() if (json.loads(line).get("parent") or json.loads(line)["id"]) in chosen]
        out.write_text("".join(lines))
        return ["--records", str(out)]
    inner = {"databases": "databases", "apis": "specs", "documents": "docs", "skills": "skills"}[yaml.split(":")[0]]
    for name in chosen:
        source, target = root / inner / name, folder / inner / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    lines = [line for line in yaml.replace(str(root), str(folder)).splitlines() if is_there(line, folder)]
    (folder / "catalog.yaml").write_text("\n".join(lines) + "\n")
    return ["--catalog", str(folder / "catalog.yaml")]


def every_set(roots):
    """Name, kind, YAML, records, questions, questions that nothing answers, and the folder of each set."""
    found = [entry for root in roots for entry in fit.sets(root, roots)]
    for root in roots:
        if (root / "skills/queries.jsonl").exists():
            yaml = f'skills:\n- path: "{root}/skills/skills"'
            found.append((f"{root.name}/skills/queries", "skill", yaml, None, root / "skills/queries.jsonl"))
    by_catalog = {}
    for name, kind, yaml, records, queries in found:
        key = (kind, yaml, records)
        by_catalog.setdefault(key, [name, []])[1].append(queries)
    for (kind, yaml, records), (name, queries) in by_catalog.items():
        folder = records.parent if records else pathlib.Path(yaml.split('path: "')[1].split('"')[0].split("/*/")[0]).parent
        base = "skills" if kind == "skill" else "/".join(name.split("/")[:2])
        places = [folder / "queries-none.jsonl", *(root / base / "queries-none.jsonl" for root in roots if kind != "skill")]
        places += [root / "none" / (base.replace("/", "-") + ".jsonl") for root in roots if root != folder.parent]
        none = sorted({path for path in places if path.exists()})
        yield name, kind, yaml, records, queries, none, folder


def collect(binary, roots, limit, temporary):
    """All questions in all catalogs."""
    found = []
    everything = list(every_set(roots))
    for name, kind, yaml, records, queries, none, folder in everything:
        names = sources(yaml, records, folder)
        parts = [("whole", names)]
        for draw, (part, share) in enumerate(PARTS):
            parts.append((part, [source for source in names if lot(source, draw) < share]))
        if kind in ("table", "operation"):
            parts += [("single", [source]) for source in sorted(names, key=lot)[:SINGLES]]
        same_kind = [entry for entry in everything if entry[1] == kind]
        following = same_kind[(same_kind.index(next(e for e in same_kind if e[0] == name)) + 1) % len(same_kind)]
        # Questions that are asked of the same catalog in another form are no strangers.
        others = following[4] if following[6] != folder and not none else []
        for at, (part, chosen) in enumerate(parts):
            if not chosen:
                continue
            place = pathlib.Path(tempfile.mkdtemp(dir=temporary))
            flags = copy_part(yaml, records, folder, place, chosen)
            cap = limit if part == "whole" else limit // 3
            for own, files in [(True, queries), (False, none), (False, [] if none else others)]:
                if not files:
                    continue
                asked = sample(files, cap, place / f"asked-{own}.jsonl")
                out = place / "evidence.jsonl"
                command = [binary, "bench", "features", "--evidence", *flags, "--kind", kind]
                command += ["--queries", str(asked), "--out", str(out)]
                run = subprocess.run(command, capture_output=True, env={"HOME": str(place), "PATH": os.environ["PATH"]})
                if run.returncode:
                    raise SystemExit(f"{name}: {run.stderr.decode()}")
                lines = out.open()
                heads = json.loads(next(lines))
                for line in map(json.loads, lines):
                    family = (line["dataset"] or name).split("-")[0] if own else name
                    asked_here = Asked(line, heads, family, name, part)
                    if not own:
                        asked_here.state = 0
                    if asked_here.hits:
                        found.append((kind, asked_here, own))
            shutil.rmtree(place)
        print(f"{name}: {len(found)} so far", flush=True)
    return found


def learn(rows, names, right, weights):
    """The intercept and the weights of a logistic regression with a ridge over what is scaled to one."""
    values = np.array([[row[name] for name in names] for row in rows])
    mean, scale = values.mean(0), values.std(0) + 1e-6
    values = np.hstack([np.ones((len(values), 1)), (values - mean) / scale])
    weights = weights * len(weights) / weights.sum()
    found, ridge = np.zeros(values.shape[1]), np.eye(values.shape[1]) * RIDGE
    ridge[0, 0] = 1e-6
    for _ in range(30):
        likely = 1 / (1 + np.exp(-values @ found))
        slope = values.T @ (weights * (right - likely)) - ridge @ found
        bend = (values.T * (weights * likely * (1 - likely))) @ values + ridge
        step = np.linalg.solve(bend, slope)
        found = found + step
        if np.abs(step).max() < 1e-6:
            break
    scaled = found[1:] / scale
    wrong = [name for name, weight in zip(names, scaled) if weight < 0 and name in FOR or weight > 0 and name in AGAINST]
    if wrong:
        worst = max(wrong, key=lambda name: abs(found[1 + names.index(name)]))
        return learn(rows, [name for name in names if name != worst], right, weights)
    return {"intercept": float(found[0] - (scaled * mean).sum()), **dict(zip(names, map(float, scaled)))}


def likely(model, row):
    return 1 / (1 + np.exp(-model["intercept"] - sum(weight * row[name] for name, weight in model.items() if name != "intercept")))


def shares(keys):
    """What each counts, so that all with the same key count once together."""
    counts = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return np.array([1 / counts[key] for key in keys])


def learn_answerable(asked, kind):
    known = [one for one in asked if one.state is not None]
    state = np.array([one.state for one in known], dtype=float)
    weights = shares([(one.family, one.set, one.part, one.state) for one in known])
    for side in (0, 1):
        weights[state == side] /= weights[state == side].sum()
    return learn([one.answerability for one in known], ANSWERABLE[kind], state, weights)


def train(asked, kind):
    answerable = dict(GIVEN[kind]) if kind in GIVEN else learn_answerable(asked, kind)
    own = [one for one in asked if one.state == 1]
    of_question = shares([(one.family, one.part) for one in own])
    rows = [hit for one in own for hit in one.hits]
    right = np.concatenate([one.right for one in own])
    weights = np.concatenate([[share] * len(one.hits) for one, share in zip(own, of_question)])
    return {"answerable": answerable, "needed": learn(rows, NEEDED[kind], right, weights)}


def calibration_error(relevance, right):
    relevance, right = np.array(relevance), np.array(right)
    at = np.searchsorted(BINS, relevance - 1e-9)
    return sum(abs(relevance[at == bin].mean() - right[at == bin].mean()) * (at == bin).sum() for bin in set(at)) / max(1, len(at))


def log_odds(relevance):
    relevance = np.clip(relevance, 1e-3, 1 - 1e-3)
    return np.log(relevance / (1 - relevance))


def correct(relevance, known, right):
    """Relevance, corrected by the hits of a few questions: as `Recalibration::learn` does."""
    odds = np.stack([np.ones(len(known)), log_odds(known)])
    offset_and_slope = np.array([0.0, 1.0])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-offset_and_slope @ odds))
        slope = odds @ (right - likely) - PRIOR * (offset_and_slope - [0, 1])
        bend = (odds * (likely * (1 - likely))) @ odds.T + np.diag(PRIOR)
        offset_and_slope = offset_and_slope + np.clip(np.linalg.solve(bend, slope), -0.5, 0.5)
        offset_and_slope[1] = max(offset_and_slope[1], 0.1)
    return 1 / (1 + np.exp(-offset_and_slope[0] - offset_and_slope[1] * log_odds(relevance)))


def errors(judged):
    """The error of questions, each with the relevance of its hits and whether they are right; that of chance; and that of the others
    once a few of them are learned from, where there are enough."""
    pool = lambda some: (np.concatenate([relevance for relevance, _ in some]), np.concatenate([right for _, right in some]))
    lots = np.random.default_rng(1)
    relevance, right = pool(judged)
    chance = np.mean([calibration_error(relevance, lots.random(len(relevance)) < relevance) for _ in range(DRAWS)])
    cells = [calibration_error(relevance, right), chance]
    if len(judged) >= 2 * OWN_QUESTIONS:
        left = []
        for _ in range(DRAWS):
            order = lots.permutation(len(judged))
            known, rest = ([judged[at] for at in part] for part in (order[:OWN_QUESTIONS], order[OWN_QUESTIONS:]))
            others, others_right = pool(rest)
            left.append(calibration_error(correct(others, *pool(known)), others_right))
        cells.append(np.mean(left))
    return " | ".join(f"{cell:.3f}" for cell in cells)


def report(kind, asked, left_out):
    """A row for each family and each set of strangers, from the model that was learned without it; returns how far the intercept
    is to be moved."""
    groups = {}
    for one, own in asked:
        if one.state == 1 and one.part == "whole":
            groups.setdefault(("own", one.family, one.set), []).append(one)
        elif one.state == 0:
            what = "of the domain" if own else "of another"
            if own or one.part == "whole":
                groups.setdefault((what, one.family if own else one.set, one.set), []).append(one)
    chance = {key: [likely(left_out[key[1]]["answerable"], one.answerability) for one in group] for key, group in groups.items()}
    odds = lambda share: np.log(share / (1 - share))
    own = [np.array([odds(p) for p in chance[key]]) for key in groups if key[0] == "own"]
    # A family counts once, whatever its size.
    kept_by = lambda move: np.mean([(odds_of + move >= odds(FLOOR)).mean() for odds_of in own])
    move = 0.0 if kind in GIVEN else next(move for move in np.arange(-6, 9, 0.05) if kept_by(move) >= KEPT[kind])
    for key, group in sorted(groups.items()):
        judged, kept = [], 0
        for one, p in zip(group, chance[key]):
            p = 1 / (1 + np.exp(-odds(p) - move))
            if p >= FLOOR:
                kept += 1
                needed = [likely(left_out[key[1]]["needed"], hit) for hit in one.hits]
                judged.append((np.minimum.accumulate(p * np.array(needed)), one.right))
        share = kept / len(group)
        error = errors(judged) if key[0] == "own" and judged else ""
        print(f"| {kind} | {key[0]} | {key[1]} | {key[2]} | {len(group)} | {share:.3f} | {1 - share:.3f} | {error} |", flush=True)
    return move


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True, help="the binary, built in release")
    parser.add_argument("--from", required=True, type=pathlib.Path, dest="roots", action="append", help="a folder with sets")
    parser.add_argument("--questions", type=int, default=90, help="at most so many of a family and a whole set [90]")
    parser.add_argument("--out", type=pathlib.Path, help="write the weights to this file")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.planner).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        found = collect(binary, [root.resolve() for root in arguments.roots], arguments.questions, temporary)

    print("| kind | questions | left out | set | number | kept | refused | error | chance | with ten questions |")
    print("|---|---|---|---|---:|---:|---:|---:|---:|---:|")
    model = {}
    for kind in NEEDED:
        asked = [(one, own) for k, one, own in found if k == kind]
        if not asked:
            continue
        left_out = {}
        for family in sorted({one.family for one, _ in asked}):
            left_out[family] = train([one for one, _ in asked if one.family != family], kind)
        move = report(kind, asked, left_out)
        weights = train([one for one, _ in asked], kind)
        weights["answerable"]["intercept"] += move
        model[kind] = {part: {name: round(value, 3) for name, value in named.items()} for part, named in weights.items()}
    text = json.dumps(model, indent=1) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
