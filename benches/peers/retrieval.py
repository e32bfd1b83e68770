#!/usr/bin/env python3
"""The same questions to `planner` and to a plain Python stack, in one run: the ratio of recall and of latency.

The plain stack is what one would write in an afternoon: a BM25 library (bm25s, with the Snowball stemmer of PyStemmer),
all-MiniLM-L6-v2 over onnxruntime, a brute-force dot product in numpy, and reciprocal rank fusion of the two (Cormack,
Clarke and Buettcher, 2009; k = 60). Both get the same records and the same questions; both are timed warm, in one
process, on a question that they were asked once before. Python's time includes tokenising and embedding the question, and
so does planner's.

What it does not show: the time to build the indices beyond the line that prints it, and a tuned Python stack.

It makes a virtual environment in $XDG_CACHE_HOME/prospector/peers (or ~/.cache/...) and installs there, by pip: bm25s,
PyStemmer, numpy, onnxruntime, tokenizers. The model is not installed: --model names a folder with an ONNX export of
all-MiniLM-L6-v2 (a file *.onnx, and tokenizer.json).

    cargo build --release
    benches/peers/retrieval.py --planner target/release/planner --model FOLDER \
        --records catalog.jsonl --queries queries.jsonl [--limit N]
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import venv

PACKAGES = ["bm25s==0.3.16", "PyStemmer==3.1.0", "numpy>=2", "onnxruntime>=1.24", "tokenizers>=0.21"]


def in_environment():
    """Starts this script again inside its own virtual environment, which is made if it is not there."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "prospector" / "peers"
    python = folder / "bin" / "python"
    if pathlib.Path(sys.prefix) == folder:
        return
    if not (folder / "ready").exists():
        print(f"making {folder} with {', '.join(PACKAGES)}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (folder / "ready").touch()
    os.execv(python, [str(python), *sys.argv])


def lines(path, limit=None):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()][:limit]


def text_of(record):
    """One text a record: its names, split, and every description that it has."""
    parts = [record.get(key) or "" for key in ("id", "name", "name_nl", "operationId", "summary", "description")]
    for member in record.get("columns") or record.get("parameters") or []:
        parts += [member.get(key) or "" for key in ("name", "name_nl", "description", "value_description")]
    parts += record.get("tags") or []
    text = " ".join(parts)
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_./#-]+", " ", text)
    return f"{text} {split}"


class Plain:
    """BM25 and MiniLM, fused."""

    def __init__(self, records, model):
        import bm25s
        import numpy
        import onnxruntime
        import Stemmer
        from tokenizers import Tokenizer

        self.numpy, self.bm25s = numpy, bm25s
        self.ids = [record["id"] for record in records]
        texts = [text_of(record) for record in records]
        self.stemmer = Stemmer.Stemmer("english")
        self.bm25 = bm25s.BM25()
        self.bm25.index(self.tokens(texts), show_progress=False)
        onnx = sorted(model.glob("*.onnx")) or sorted(model.glob("onnx/*.onnx"))
        if not onnx or not (model / "tokenizer.json").exists():
            sys.exit(f"{model}: needs a file *.onnx and tokenizer.json")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(onnx[0]), options, providers=["CPUExecutionProvider"])
        self.inputs = {entry.name for entry in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        self.matrix = numpy.stack([self.embed(text) for text in texts])

    def tokens(self, texts):
        return self.bm25s.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)

    def embed(self, text):
        numpy = self.numpy
        ids = numpy.array([self.tokenizer.encode(text).ids], dtype=numpy.int64)
        feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        hidden = self.session.run(None, {name: feed[name] for name in self.inputs})[0][0]
        mean = hidden.mean(axis=0)
        return mean / numpy.linalg.norm(mean)

    def search(self, question, k):
        depth = min(100, len(self.ids))
        places, scores = self.bm25.retrieve(self.tokens([question]), k=depth, show_progress=False)
        lexical = [place for place, score in zip(places[0], scores[0]) if score > 0]
        near = self.matrix @ self.embed(question)
        dense = self.numpy.argsort(-near)[:depth]
        fused = {}
        for ranking in (lexical, dense):
            for rank, place in enumerate(ranking):
                fused[place] = fused.get(place, 0) + 1 / (60 + rank + 1)
        best = sorted(fused, key=fused.get, reverse=True)[:k]
        return [self.ids[place] for place in best]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure_plain(plain, questions):
    recall = {"recall@5": [], "strict_recall@5": [], "recall@10": [], "strict_recall@10": []}
    times = []
    for question in questions:
        plain.search(question["query"], 10)
        started = time.perf_counter()
        found = plain.search(question["query"], 10)
        times.append((time.perf_counter() - started) * 1000)
        gold = set(question["gold"])
        for k in (5, 10):
            hit = len(gold & set(found[:k])) / len(gold)
            recall[f"recall@{k}"].append(hit)
            recall[f"strict_recall@{k}"].append(float(hit == 1))
    scores = {name: statistics.fmean(values) for name, values in recall.items()}
    return scores, {"p50": percentile(times, 0.50), "p99": percentile(times, 0.99)}


def measure_planner(arguments):
    command = [arguments.planner, "bench", "retrieval", "--json", "--ranker", "full"]
    command += ["--records", arguments.records, "--queries", arguments.queries]
    if arguments.limit:
        command += ["--limit", str(arguments.limit)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    ranked = json.loads(run.stdout)["rankers"][0]
    return ranked, ranked["latency_ms"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True, help="the binary, built in release")
    parser.add_argument("--records", required=True, help="the file of records that `planner bench retrieval` takes")
    parser.add_argument("--queries", required=True, help="the file of questions")
    parser.add_argument("--model", required=True, type=pathlib.Path, help="a folder with all-MiniLM-L6-v2 as ONNX")
    parser.add_argument("--limit", type=int, help="only so many questions")
    arguments = parser.parse_args()
    in_environment()

    questions = lines(arguments.queries, arguments.limit)
    records = lines(arguments.records)
    started = time.perf_counter()
    plain = Plain(records, arguments.model)
    built = time.perf_counter() - started
    print(f"{len(records)} records, {len(questions)} questions; Python indexed them in {built:.1f} s\n")
    theirs, their_ms = measure_plain(plain, questions)
    ours, our_ms = measure_planner(arguments)

    print(f"| {'':<16} | Python | planner |  ratio |\n|{'-' * 18}|-------:|--------:|-------:|")
    for name, value in theirs.items():
        ratio = ours[name] / value if value else float("inf")
        print(f"| {name:<16} | {value:6.3f} | {ours[name]:7.3f} | {ratio:6.2f} |")
    for name, value in their_ms.items():
        print(f"| {name + ' ms':<16} | {value:6.2f} | {our_ms[name]:7.2f} | {value / our_ms[name]:5.1f}x |")


if __name__ == "__main__":
    main()
