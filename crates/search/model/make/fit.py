"""Fits the vectors of word pieces: the mean of a text's pieces imitates a teacher and finds what belongs to it.

A text is the mean of its pieces' vectors, of length 1. The weights that `static_table.rs` learns from a catalog are
left out on purpose: a catalog of names does not hold the words that questions are made of ("how many", "list the"), so
these must be short vectors of their own accord. The losses, in steps of Adam (https://arxiv.org/abs/1412.6980) that
touch only the rows of a batch:

- imitation: 1 - cosine to the teacher's vector, centred and reduced by principal components, as Model2Vec's tokenlearn
  does (https://github.com/MinishLab/tokenlearn); and the squared difference between the similarities of every two
  texts of a batch and those of the teacher;
- contrast: InfoNCE over the pairs of a batch, both ways (https://arxiv.org/abs/1807.03748,
  https://huggingface.co/blog/static-embeddings).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass
class Settings:
    dimensions: int = 256
    epochs: int = 5
    batch: int = 1024
    temperature: float = 0.05
    contrast: float = 1.0
    imitation: float = 3.0
    likeness: float = 30.0
    pull: float = 0.02
    rate: float = 0.001
    dropout: float = 0.1
    seed: int = 20


def matrix(rows, weights):
    """Texts as sparse rows of weights that sum to 1."""
    starts = np.cumsum([0, *map(len, rows)])
    flat = np.fromiter((piece for row in rows for piece in row), np.int32, starts[-1])
    made = sparse.csr_matrix((weights[flat], flat, starts), (len(rows), len(weights)))
    made.sum_duplicates()
    return scaled(made)


def scaled(made):
    total = np.asarray(made.sum(1)).ravel()
    return (sparse.diags(1 / np.maximum(total, 1e-9)) @ made).tocsr().astype(np.float32)


def unit(x):
    length = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    return x / length, length


def through_unit(gradient, u, length):
    return (gradient - u * (gradient * u).sum(1, keepdims=True)) / length


def targets(vectors, dimensions):
    """Centred, on the first principal components, of length 1."""
    centred = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    return unit(centred @ axes[:, ::-1][:, :dimensions])[0].astype(np.float32)


def initial(alone, texts, wanted):
    """The teacher's vectors of single pieces, mapped so that the texts made of them are nearest to what is wanted."""
    alone = alone - alone.mean(0)
    x = unit(texts @ alone)[0]
    x64, ridge = x.astype(np.float64), 0.001 * len(x) / x.shape[1]
    return (alone @ np.linalg.solve(x64.T @ x64 + ridge * np.eye(x.shape[1]), x64.T @ wanted)).astype(np.float32)


class Adam:
    """Moments of every row, advanced only where a batch touches it."""

    def __init__(self, rows, rate):
        self.rows, self.rate = rows, rate
        self.first, self.second = np.zeros_like(rows), np.zeros_like(rows)
        self.times = np.zeros((len(rows), 1), np.float32)

    def step(self, touched, gradient, share):
        self.times[touched] += 1
        t = self.times[touched]
        first = self.first[touched] = 0.9 * self.first[touched] + 0.1 * gradient
        second = self.second[touched] = 0.99 * self.second[touched] + 0.01 * gradient**2
        change = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.99**t)) + 1e-8)
        self.rows[touched] -= self.rate * share * change


def fit(start, imitated, wanted, asked, records, settings, say):
    """The fitted rows. `imitated` are texts whose vectors are `wanted`; `asked` belong to `records`, line by line."""
    chance = np.random.default_rng(settings.seed)
    size = np.linalg.norm(start, axis=1).mean()
    start = start / size
    rows = start.copy()
    adam = Adam(rows, settings.rate)
    steps = len(range(0, asked.shape[0] - settings.batch + 1, settings.batch))
    each = min(settings.batch, imitated.shape[0] // steps)
    for epoch in range(settings.epochs):
        order, others = chance.permutation(asked.shape[0]), chance.permutation(imitated.shape[0])
        lost = np.zeros(3)
        for step in range(steps):
            share = max(0.02, 1 - (epoch * steps + step) / (settings.epochs * steps))
            at = order[step * settings.batch : (step + 1) * settings.batch]
            too = others[step * each : (step + 1) * each]
            texts = sparse.vstack([dropped(asked[at], settings.dropout, chance), records[at], imitated[too]]).tocsr()
            touched = np.unique(texts.indices)
            small = sparse.csr_matrix(
                (texts.data, np.searchsorted(touched, texts.indices), texts.indptr), (texts.shape[0], len(touched))
            )
            vectors, lengths = unit(small @ rows[touched])
            n = len(at)
            q, r, i = vectors[:n], vectors[n : 2 * n], vectors[2 * n :]
            by_q, by_r, contrast, hits = info_nce(q, r, settings.temperature)
            by_i = -settings.imitation * wanted[too] / len(too)
            by_i += settings.likeness * (i @ (i.T @ i) - wanted[too] @ (wanted[too].T @ i)) * 4 / len(too) ** 2
            gradient = np.concatenate([settings.contrast * by_q, settings.contrast * by_r, by_i])
            back = small.T @ through_unit(gradient, vectors, lengths)
            back += settings.pull * (rows[touched] - start[touched]) / len(touched)
            adam.step(touched, back.astype(np.float32), share)
            lost += contrast, hits, 1 - (i * wanted[too]).sum(1).mean()
        say("epoch {}: contrast {:.3f}, found first {:.3f}, imitation {:.3f}".format(epoch + 1, *(lost / steps)))
    return rows


def dropped(texts, share, chance):
    """Without some of the pieces, so that no single word decides."""
    texts = texts.copy()
    texts.data *= chance.random(len(texts.data)) >= share
    texts.eliminate_zeros()
    return texts


def info_nce(q, r, temperature):
    """The gradients for both sides, the loss, and how often the right record is first."""
    logits = (q @ r.T) / temperature
    n = len(logits)
    hits = (logits.argmax(1) == np.arange(n)).mean()
    loss, gradient = 0.0, np.zeros_like(logits)
    for axis in (1, 0):
        shifted = logits - logits.max(axis, keepdims=True)
        chances = np.exp(shifted)
        chances /= chances.sum(axis, keepdims=True)
        loss -= np.log(np.maximum(np.diag(chances), 1e-12)).mean() / 2
        gradient += chances / 2
    gradient[np.arange(n), np.arange(n)] -= 1
    gradient /= n * temperature
    return gradient @ r, gradient.T @ q, loss, hits
