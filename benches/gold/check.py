#!/usr/bin/env python3
"""Whether the answers that `planner bench sql --out FILE` wrote are those of SQLite itself.

    check.py ANSWERS.jsonl FOLDER

FOLDER holds `<database>/<database>.sqlite`. Each query is run with the sqlite3 module of Python, and the rows are
compared: as a bag where the query has no ORDER BY of its own, numbers to ten digits, 1 and 1.0 as one. It does not show
whether a query is the right one for its question, and says nothing of other kinds of source.
"""

import collections
import json
import pathlib
import re
import sqlite3
import sys


def value(cell):
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, (int, float)):
        return "%.10g" % cell
    if isinstance(cell, bytes):
        return "\\x" + cell.hex()
    return cell


def is_number(text):
    return isinstance(text, str) and re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) is not None


def row(cells):
    """A value as JSON has it: large numbers are texts there."""
    made = (value(cell) for cell in cells)
    return tuple("%.10g" % float(cell) if is_number(cell) else cell for cell in made)


def has_order(sql):
    """Whether there is an ORDER BY outside of all parentheses and texts."""
    depth, plain = 0, []
    for part in re.findall(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|[()]|[^()'\"`]+", sql):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if depth == 0 and part[0] not in "'\"`()":
            plain.append(part)
    return re.search(r"\border\s+by\b", " ".join(plain), re.I) is not None


def main():
    answers, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    counts, shown = collections.Counter(), []
    for line in answers.read_text().splitlines():
        answer = json.loads(line)
        database = answer["database"]
        connection = sqlite3.connect(f"file:{folder / database / database}.sqlite?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            expected = [row(cells) for cells in connection.execute(answer["sql"]).fetchall()]
            wrong = None
        except sqlite3.Error as error:
            expected, wrong = None, str(error)
        connection.close()
        if "error" in answer:
            kind = "failed in both" if wrong else f"failed here alone: {answer['error']}"
            detail = answer["message"]
        elif wrong:
            kind, detail = "failed in sqlite3 alone", wrong
        else:
            found = [row(cells) for cells in answer["rows"]]
            if found == expected:
                kind = "same"
            elif collections.Counter(found) == collections.Counter(expected):
                kind = "same but for the order" if has_order(answer["sql"]) else "same"
            else:
                kind = "other rows"
            detail = f"{len(found)} rows {found[:2]}, not {len(expected)} {expected[:2]}"
        counts[kind] += 1
        if kind != "same":
            shown.append(f"{kind}: {answer['id']} {database}: {answer['sql']}\n    {detail}")
    for text in shown:
        print(text)
    print(json.dumps({"queries": sum(counts.values()), **dict(counts.most_common())}))
    sys.exit(0 if set(counts) <= {"same", "failed in both"} else 1)


if __name__ == "__main__":
    main()
