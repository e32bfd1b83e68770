"""Word pieces as `static_table.rs` makes them: identifiers split, BERT's normalisation, greedy longest match."""

import re
import unicodedata

LONGEST_WORD = 100
APART = re.compile(r"([!-/:-@\[-`{-~\u2010-\u2027\u3000-\u303F\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF])")


def words(text):
    """Lower case, without accents, punctuation apart; `InvoiceLine` and `invoice_line` are two words."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", text)
        text = "".join(c for c in text if not unicodedata.category(c).startswith("M"))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")
    return APART.sub(r" \1 ", text.lower()).split()


class WordPiece:
    """A vocabulary: piece to row."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary
        self.known = {}

    def word(self, word):
        """The rows of one word; of an unknown one none."""
        if word not in self.known:
            self.known[word] = self.split(word)
        return self.known[word]

    def split(self, word):
        found, start = [], 0
        if len(word) > LONGEST_WORD:
            return found
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self.vocabulary.get(("##" if start else "") + word[start:end])
                if piece is not None:
                    break
            else:
                return []
            found.append(piece)
            start = end
        return found

    def __call__(self, text):
        return [row for word in words(text) for row in self.word(word)]
