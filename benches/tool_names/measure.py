#!/usr/bin/env python3
"""Are our tools found among hundreds of others? For each request in `requests.jsonl`, whether one of the tools that serve it is among the
first three of BM25 over names and first sentences, as clients search tools that they do not load.

The others are operation records, one JSON object per line with `name` and `description` (see `planner bench retrieval --help`); 500 of them
are drawn with a fixed seed.

    benches/tool_names/measure.py --planner target/release/planner --others records.jsonl [--others more.jsonl]
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

OTHERS = 500
FIRST = 3
# The parameters of Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), section 3.5.
K1, B = 1.2, 0.75


def words(text):
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).replace("_", " ")
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in re.findall(r"[a-z0-9]+", parts.lower())]


def first_sentence(text):
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def list_own_tools(planner, folder):
    """The tools of `planner mcp` over a copy of the sample catalog with `queries: true`, by an MCP session on standard input."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    sample = shutil.copytree(pathlib.Path(__file__).parents[2] / "catalog", folder / "catalog", ignore=shutil.ignore_patterns(".prospector"))
    with (sample / "catalog.yaml").open("a") as catalog:
        catalog.write("\nqueries: true\n")
    command = [planner, "mcp", "--catalog", str(sample / "catalog.yaml")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == 2:
            process.stdin.close()
            process.wait()
            return [(tool["name"], tool["description"]) for tool in answer["result"]["tools"]]
    raise SystemExit("the server listed no tools")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", required=True)
    parser.add_argument("--others", required=True, type=pathlib.Path, action="append")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = list_own_tools(arguments.planner, pathlib.Path(folder))
    records = [json.loads(line) for path in arguments.others for line in path.open()]
    others = random.Random(1).sample([(record["name"], record.get("description", "")) for record in records], OTHERS)
    tools = own + others
    texts = [collections.Counter(words(f"{name} {first_sentence(description)}")) for name, description in tools]
    mean = sum(sum(text.values()) for text in texts) / len(texts)
    frequency = collections.Counter(word for text in texts for word in text)
    idf = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()}

    def score(text, asked):
        norm = K1 * (1 - B + B * sum(text.values()) / mean)
        return sum(idf[word] * text[word] * (K1 + 1) / (text[word] + norm) for word in asked if word in text)

    requests = [json.loads(line) for line in (pathlib.Path(__file__).parent / "requests.jsonl").open()]
    found = 0
    for request in requests:
        asked = set(words(request["request"]))
        order = sorted(range(len(tools)), key=lambda at: -score(texts[at], asked))[:FIRST]
        first = [tools[at][0] if at < len(own) else f"({tools[at][0]})" for at in order]
        is_found = any(at < len(own) and tools[at][0] in request["tools"] for at in order)
        found += is_found
        if not is_found:
            print(f"missed: {request['request']}: {', '.join(first)}")
    print(f"{found} of {len(requests)} requests find one of their tools among the first {FIRST} of {len(tools)}")


if __name__ == "__main__":
    main()
