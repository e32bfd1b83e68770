#!/usr/bin/env python3
"""Whether the answers that `planner bench sql --out FILE` wrote are those of the database itself.

    check.py ANSWERS.jsonl FOLDER            compares with SQLite
    check.py ANSWERS.jsonl --server URL      compares with a server that load.py filled
    ... --refused FILE                       writes what the database answers and the engine refuses, one JSON a line

FOLDER holds `<database>/<database>.sqlite`. Each query is run as it is written, with the sqlite3 module of Python, or
with psycopg2 or pymysql in a session that the server's own settings make. The rows are compared: as a bag where the
query has no ORDER BY of its own, numbers to ten digits, 1 and 1.0 as one. Where LIMIT cuts between rows that the order
does not tell apart, servers answer differently from one time to the next: as many of the rows without LIMIT will do, and
are counted apart. Names of columns are compared too and only counted. It does not show whether a query is the right one
for its question. What fails in both places counts as no fault: a query for SQLite need not be one for a server.
"""

import argparse
import collections
import datetime
import decimal
import json
import pathlib
import re
import sqlite3
import sys

import load

GOOD = {"same", "other rows of a tie", "failed in both"}


def value(cell):
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, (int, float, decimal.Decimal)):
        return "%.10g" % cell
    if isinstance(cell, bytes):
        return "\\x" + cell.hex()
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, (datetime.date, datetime.timedelta)):
        return str(cell)
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


class Files:
    """SQLite files in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def ask(self, database, sql):
        """The names of the columns and the rows, or why there are none."""
        connection = sqlite3.connect(f"file:{self.folder / database / database}.sqlite?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        try:
            cursor = connection.execute(sql)
            rows = cursor.fetchall()
            return [column[0] for column in cursor.description], rows, None
        except sqlite3.Error as error:
            return None, None, str(error)
        finally:
            connection.close()


class Server:
    """The databases that load.py made on a server."""

    def __init__(self, url):
        self.url, self.open = url, {}

    def ask(self, database, sql):
        """The names of the columns and the rows, or why there are none."""
        name = load.PREFIX + database
        if name not in self.open:
            self.open[name] = load.connect(self.url, name)
        cursor = self.open[name].cursor()
        try:
            cursor.execute("START TRANSACTION READ ONLY")
            cursor.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall(), None
        except Exception as error:  # each driver has errors of its own
            return None, None, str(error).splitlines()[0]
        finally:
            cursor.execute("ROLLBACK")
            cursor.close()


def compared(answer, names, expected, wrong):
    """The word for what came of a query, and the detail."""
    if "error" in answer:
        detail = " ".join([answer["message"], answer.get("suggestion", "")])
        return ("failed in both", detail) if wrong else (f"failed here alone: {answer['error']}", detail)
    if wrong:
        return "failed in the database alone", wrong
    found = [row(cells) for cells in answer["rows"]]
    expected = [row(cells) for cells in expected]
    detail = f"{len(found)} rows {found[:2]}, not {len(expected)} {expected[:2]}"
    if collections.Counter(found) != collections.Counter(expected):
        return "other rows", detail
    if found != expected and has_order(answer["sql"]):
        return "same but for the order", detail
    return ("same" if answer["columns"] == names else "same under other names"), f"{answer['columns']}, not {names}"


def is_tie(database, answer, expected):
    """Whether the rows are as many of those that the query without its last LIMIT has."""
    whole, cuts = re.subn(r"\s+limit\s+\d+\s*;?\s*$", "", answer["sql"], flags=re.I)
    if cuts == 0 or len(answer["rows"]) != len(expected):
        return False
    _, every, wrong = database.ask(answer["database"], whole)
    found = collections.Counter(row(cells) for cells in answer["rows"])
    return wrong is None and not found - collections.Counter(row(cells) for cells in every)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=pathlib.Path)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--server")
    parser.add_argument("--refused", type=pathlib.Path)
    options = parser.parse_args()
    if (options.folder is None) == (options.server is None):
        parser.error("FOLDER or --server URL is needed")
    database = Server(options.server) if options.server else Files(options.folder)
    counts, shown, refused, renamed, accepted = collections.Counter(), [], [], 0, 0
    for line in options.answers.read_text().splitlines():
        answer = json.loads(line)
        names, expected, wrong = database.ask(answer["database"], answer["sql"])
        accepted += wrong is None
        kind, detail = compared(answer, names, expected, wrong)
        if kind == "same under other names":
            renamed, kind = renamed + 1, "same"
        if kind == "other rows" and is_tie(database, answer, expected):
            kind = "other rows of a tie"
        counts[kind] += 1
        if kind.startswith("failed here alone"):
            refused.append({"id": answer["id"], "sql": answer["sql"], "error": answer["error"], "detail": detail})
        if kind not in GOOD:
            shown.append(f"{kind}: {answer['id']} {answer['database']}: {answer['sql']}\n    {detail}")
    for text in shown:
        print(text)
    if options.refused:
        options.refused.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in refused))
    report = {"queries": sum(counts.values()), "accepted": accepted, **dict(counts.most_common())}
    print(json.dumps({**report, "other names of columns": renamed}))
    sys.exit(0 if set(counts) <= GOOD else 1)


if __name__ == "__main__":
    main()
