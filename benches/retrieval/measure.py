#!/usr/bin/env python3
"""The tables of docs/src/benchmarks.md: `planner bench retrieval` and `planner bench calibration` over every
question set in a folder, through the loaders, as a user's catalog is read.

A folder has the layout

    schema/SET/databases/DB/schema.sql [*.sqlite, descriptions.json]    api/SET/specs/*    docs/SET/docs/**.md
    skills/skills/**/SKILL.md    tools/SET/records.jsonl                and beside each of them queries*.jsonl

with one question a line, as `planner bench retrieval --help` tells. Sets without questions are left out; questions without
databases beside them are about the set of the same name in another folder. Questions that nothing in a set answers are those
of `queries-none.jsonl` beside the questions, of `none/SET.jsonl`, or else those of the next set. It needs Python and nothing
else, and writes only to a temporary folder.

    cargo build --release
    benches/retrieval/measure.py --planner target/release/planner --from FOLDER [--from FOLDER] [--questions 100]
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

# What a set is made of, by its kind.
INSIDE = {"schema": ["databases"], "api": ["specs"], "docs": ["docs"]}
BINS = [(0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.0)]


# What an entry of a schema says of its descriptions.
DESCRIBED = ', descriptions: "{dir}/descriptions.json"'


def catalogs(root, needs_questions=True):
    """The catalog of each set that has questions: name, YAML, questions."""
    found = []
    for folder in sorted(root.glob("schema/*")):
        entries = [
            f'- {{path: "{folder}/databases/*/{pattern}"{DESCRIBED}}}'
            for pattern in ("*.sqlite", "schema.sql")
            if any(folder.glob(f"databases/*/{pattern}"))
        ]
        found.append((folder, "databases:\n" + "\n".join(entries)))
    found += [(folder, f'apis:\n- path: "{folder}/specs"') for folder in sorted(root.glob("api/*"))]
    found += [(folder, f'documents:\n- path: "{folder}/docs"') for folder in sorted(root.glob("docs/*"))]
    found.append((root / "skills", f'skills:\n- path: "{root}/skills/skills"'))
    named = [(str(folder.relative_to(root)), yaml, folder / "queries.jsonl") for folder, yaml in found]
    return [entry for entry in named if entry[2].exists() or not needs_questions]


def lot(*what):
    """A number from 0 to 1 that looks drawn by lot and is the same each time."""
    digest = hashlib.blake2b("/".join(map(str, what)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def sample(paths, limit, out):
    """At most `limit` questions of each family, in a file."""
    families = {}
    for path in paths:
        for line in path.open():
            question = json.loads(line)
            family = (question.get("dataset") or "").split("-")[0]
            families.setdefault((path, family), []).append((lot(question["id"]), line.rstrip("\n")))
    chosen = [line for lines in families.values() for _, line in sorted(lines)[:limit]]
    out.write_text("\n".join(chosen) + "\n")
    return out


def sets(roots):
    """Every set of questions: its name, the YAML of its catalog or the file of its records, the questions, and those that nothing
    in it answers, where there are some."""
    catalogs_by_name = {}
    for root in roots:
        for name, yaml, queries in catalogs(root, needs_questions=False):
            if name == "skills" or (root / name).joinpath(*INSIDE[name.split("/")[0]]).exists():
                catalogs_by_name[(root if name == "skills" else None, name)] = yaml
    for root in roots:
        for name, _, queries in catalogs(root, needs_questions=False):
            yaml = catalogs_by_name.get((root if name == "skills" else None, name))
            for questions in sorted(queries.parent.glob("queries*.jsonl")):
                if yaml and "none" not in questions.stem:
                    yield f"{root.name}/{name}/{questions.stem}", yaml, None, questions, unanswerable(roots, name, questions)
        for records in sorted(root.glob("tools/*/records.jsonl")):
            name = str(records.parent.relative_to(root))
            questions = records.parent / "queries.jsonl"
            yield f"{root.name}/{name}", None, records, questions, unanswerable(roots, name, questions)


def unanswerable(roots, name, questions):
    beside = [questions.parent / "queries-none.jsonl", *(root / name / "queries-none.jsonl" for root in roots if name != "skills")]
    beside += [root / "none" / (name.replace("/", "-") + ".jsonl") for root in roots if root not in questions.parents]
    return next((path for path in beside if path.exists()), None)


def planner(binary, folder, *arguments):
    run = subprocess.run([binary, "bench", *arguments, "--json"], check=True, capture_output=True, text=True, env={"HOME": str(folder)})
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True, help="the binary, built in release")
    parser.add_argument("--from", required=True, type=pathlib.Path, dest="roots", action="append", help="a folder with sets")
    parser.add_argument("--embedder", default="static", help="as for planner")
    parser.add_argument("--questions", type=int, help="at most so many of each family [all]")
    arguments = parser.parse_args()
    everything = list(sets([root.resolve() for root in arguments.roots]))
    binary = str(pathlib.Path(arguments.planner).resolve())

    print("| set | questions | ranker | recall@1 | recall@5 | strict@5 | recall@10 | strict@10 | strict@15 | MRR | nDCG@10 | p50 ms | p99 ms |")
    print("|---|---:|---|" + "---:|" * 10)
    reliability = {}
    with tempfile.TemporaryDirectory() as temporary:
        for at, (name, yaml, records, questions, none) in enumerate(everything):
            folder = pathlib.Path(temporary) / str(at)
            folder.mkdir()
            limit = arguments.questions or sys.maxsize
            asked = sample([questions], limit, folder / "asked.jsonl")
            none = sample([none or everything[(at + 1) % len(everything)][3]], limit, folder / "none.jsonl")
            if yaml:
                (folder / "catalog.yaml").write_text(yaml + "\n")
            where = ["--catalog", str(folder / "catalog.yaml")] if yaml else ["--records", str(records)]
            common = [*where, "--queries", str(asked), "--embedder", arguments.embedder]
            report = planner(binary, folder, "retrieval", *common)
            for ranked in report["rankers"]:
                measures = ["recall@1", "recall@5", "strict_recall@5", "recall@10", "strict_recall@10", "strict_recall@15", "mrr", "ndcg@10"]
                cells = [f"{ranked[measure]:.3f}" for measure in measures]
                cells += [f"{ranked['latency_ms'][share]:.2f}" for share in ("p50", "p99")]
                count = sum(1 for _ in asked.open())
                print(f"| {name} | {count} | {ranked['ranker']} | " + " | ".join(cells) + " |", flush=True)
            reliability[name] = planner(binary, folder, "calibration", *common, "--negatives", str(none))

    print("\nRight, of the hits whose relevance is in the range (and how many they are); the last two columns: own questions")
    print("that get an answer, and questions that nothing here answers that get none.\n")
    print("| set | " + " | ".join(f"{low}-{high}" for low, high in BINS) + " | error | kept | rejected |")
    print("|---|" + "---:|" * (len(BINS) + 3))
    for name, report in reliability.items():
        cells = []
        for low, high in BINS:
            inside = [b for b in report["bins"] if low - 1e-6 <= b["above"] and b["to"] <= high + 1e-6]
            hits = sum(b["hits"] for b in inside)
            right = sum(b["hits"] * b["right"] for b in inside) / hits if hits else float("nan")
            cells.append(f"{right:.2f} ({hits})")
        floor = [f"{report['expected_calibration_error']:.3f}", f"{report['own']['kept']:.2f}", f"{report['negatives']['rejected']:.2f}"]
        print(f"| {name} | " + " | ".join(cells + floor) + " |")


if __name__ == "__main__":
    main()
