#!/usr/bin/env python3
"""The tables of docs/src/search-quality.md: `planner bench retrieval` and `planner bench calibration` over every
question set in a folder, through the loaders, as a user's catalog is read.

The folder has the layout

    schema/SET/databases/DB/schema.sql [*.sqlite, descriptions.json]    api/SET/specs/*    docs/SET/docs/**.md
    skills/skills/**/SKILL.md                                           and beside each of them queries.jsonl

with one question a line, as `planner bench retrieval --help` tells. Sets without questions are left out. Questions of the
next set are the ones that nothing in a set answers. It needs Python and nothing else, and writes only to a temporary folder.

    cargo build --release
    benches/retrieval/measure.py --planner target/release/planner --from FOLDER
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

RANKERS = ["lexical", "dense", "rrf", "full"]
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


def planner(binary, folder, *arguments):
    run = subprocess.run(
        [binary, "bench", *arguments, "--json", "--catalog", str(folder / "catalog.yaml")],
        check=True,
        capture_output=True,
        text=True,
        env={"HOME": str(folder)},
    )
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True, help="the binary, built in release")
    parser.add_argument("--from", required=True, type=pathlib.Path, dest="root", help="the folder with the sets")
    parser.add_argument("--embedder", default="static", help="as for planner")
    arguments = parser.parse_args()
    sets = catalogs(arguments.root.resolve())
    binary = str(pathlib.Path(arguments.planner).resolve())

    print("| set | ranker | recall@1 | recall@5 | strict@5 | recall@10 | strict@10 | strict@15 | MRR | nDCG@10 | p50 ms | p99 ms |")
    print("|---|---|" + "---:|" * 10)
    reliability = {}
    with tempfile.TemporaryDirectory() as temporary:
        for at, (name, yaml, queries) in enumerate(sets):
            folder = pathlib.Path(temporary) / str(at)
            folder.mkdir()
            (folder / "catalog.yaml").write_text(yaml + "\n")
            common = ["--queries", str(queries), "--embedder", arguments.embedder]
            report = planner(binary, folder, "retrieval", *common)
            for ranked in report["rankers"]:
                measures = ["recall@1", "recall@5", "strict_recall@5", "recall@10", "strict_recall@10", "strict_recall@15", "mrr", "ndcg@10"]
                cells = [f"{ranked[measure]:.3f}" for measure in measures]
                cells += [f"{ranked['latency_ms'][share]:.2f}" for share in ("p50", "p99")]
                print(f"| {name} | {ranked['ranker']} | " + " | ".join(cells) + " |", flush=True)
            others = sets[(at + 1) % len(sets)][2]
            reliability[name] = planner(binary, folder, "calibration", *common, "--negatives", str(others))

    print("\nRight, of the hits whose relevance is in the range (and how many they are); the last two columns: own questions")
    print("that get an answer, and questions of the next set that get none.\n")
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
