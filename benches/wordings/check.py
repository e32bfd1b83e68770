"""Checks the queries of `planner bench wordings` without the program: `python3 benches/wordings/check.py`.

Counts wordings and plans, and runs the SQL of every right plan and of every plan with a semantic defect in Python's SQLite, CSV files
included: a right plan returns rows, and a semantic one returns other rows than the right one. Needs PyYAML. Statements over files
are DataFusion's SQL, so that they keep to what both understand. Plans with other actions than SQL are only counted.
"""

import collections
import csv
import sqlite3
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent
SAMPLE = HERE.parent.parent / "catalog"
LANGUAGES = {"en": 8, "de": 2, "es": 2, "fr": 2, "zh": 2}
STRUCTURAL = """unknown_table unknown_column unknown_name bad_type fan_out cross_join empty_join unknown_value outside_period null_trap
ties_cut missing_argument unknown_input bad_metric_dimension""".split()
SEMANTIC = "wrong_measure wrong_filter missing_filter wrong_period wrong_group wrong_order wrong_population".split()


def date_part(part, text):
    if text is None:
        return None
    month = int(text[5:7])
    return {"year": int(text[:4]), "quarter": (month + 2) // 3, "month": month, "day": int(text[8:10])}[part]


def read_value(text):
    if text in ("", "true", "false"):
        return {"": None, "true": 1, "false": 0}[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def load_csv(connection, database, path):
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    columns = ", ".join(f'"{head}"' for head in heads)
    connection.execute(f"CREATE TABLE {database}.{path.stem} ({columns})")
    marks = ", ".join("?" * len(heads))
    connection.executemany(f"INSERT INTO {database}.{path.stem} VALUES ({marks})", [[read_value(one) for one in row] for row in rows])


def connect(name, scratch):
    """The databases of one catalog under their names."""
    connection = sqlite3.connect(":memory:")
    connection.create_function("date_part", 2, date_part)
    if name == "sample":
        connection.execute("ATTACH ? AS music_store", (str(SAMPLE / "databases/music_store.sqlite"),))
        connection.execute("ATTACH ':memory:' AS web_metrics")
        load_csv(connection, "web_metrics", SAMPLE / "files/web_metrics.csv")
        connection.execute("ATTACH ':memory:' AS warehouses")
        connection.execute("CREATE TABLE warehouses.warehouses (code, city, country)")
        for warehouse in yaml.safe_load((SAMPLE / "files/warehouses.json").read_text(encoding="utf-8")):
            values = [warehouse[key] for key in ("code", "city", "country")]
            connection.execute("INSERT INTO warehouses.warehouses VALUES (?, ?, ?)", values)
        return connection
    for script in (HERE / name).glob("*.sql"):
        path = scratch / f"{script.stem}.sqlite"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as database:
            database.executescript("PRAGMA foreign_keys = ON;" + script.read_text(encoding="utf-8"))
        connection.execute(f"ATTACH ? AS {script.stem}", (str(path),))
    files = sorted((HERE / name).glob("*.csv"))
    if files:
        connection.execute(f"ATTACH ':memory:' AS {name}")
    for path in files:
        load_csv(connection, name, path)
    return connection


def run(connection, plan):
    """The rows of the last statement; None where a step is not SQL. The rows of each step are a table for the later ones."""
    rows = None
    for number in range(1, 6):
        connection.execute(f"DROP TABLE IF EXISTS step_{number}")
    for number, step in enumerate(plan, 1):
        if "sql" not in step:
            return None
        answer = connection.execute(step["sql"])
        heads = ", ".join(f'"{column[0]}"' for column in answer.description)
        rows = answer.fetchall()
        connection.execute(f"CREATE TEMP TABLE step_{number} ({heads})")
        marks = ", ".join("?" * len(answer.description))
        connection.executemany(f"INSERT INTO step_{number} VALUES ({marks})", rows)
    return rows


def check(query, connection, kinds, wrong):
    """Counts the plans of a query, and adds what is wrong with them."""
    counts = {language: len(texts) for language, texts in query["wordings"].items()}
    if counts != LANGUAGES:
        wrong.append(f"{query['id']}: wordings {counts}")
    texts = [text for texts in query["wordings"].values() for text in texts]
    if len(set(texts)) != len(texts) or not all(isinstance(text, str) for text in texts):
        wrong.append(f"{query['id']}: a wording is repeated, or no text")
    if not 1 <= len(query["spoiled"]) <= 4:
        wrong.append(f"{query['id']}: {len(query['spoiled'])} spoiled plans")
    try:
        right = run(connection, query["right"])
    except sqlite3.Error as error:
        wrong.append(f"{query['id']}: {error}")
        return
    if right == []:
        wrong.append(f"{query['id']}: the right plan returns no rows")
    for spoiled in query["spoiled"]:
        kind = spoiled["kind"]
        kinds[kind] += 1
        if spoiled["structural"] != (kind in STRUCTURAL) or kind not in STRUCTURAL + SEMANTIC:
            wrong.append(f"{query['id']}: {kind} is of the other class, or unknown")
        if spoiled["structural"]:
            continue
        try:
            rows = run(connection, spoiled["plan"])
        except sqlite3.Error as error:
            wrong.append(f"{query['id']}: {kind}: {error}")
            continue
        if rows is not None and (rows == right or not rows):
            wrong.append(f"{query['id']}: {kind} returns the same rows as the right plan, or none")


def main():
    import tempfile

    kinds, wrong, ids, wordings = collections.Counter(), [], [], 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(HERE.glob("*/queries.yaml")):
            queries = yaml.safe_load(path.read_text(encoding="utf-8"))["queries"]
            connection = connect(path.parent.name, Path(scratch))
            for query in queries:
                ids.append(query["id"])
                wordings += sum(len(texts) for texts in query["wordings"].values())
                check(query, connection, kinds, wrong)
            connection.close()
    structural = sum(kinds[kind] for kind in STRUCTURAL)
    semantic = sum(kinds[kind] for kind in SEMANTIC)
    print(f"{len(ids)} queries, {wordings} wordings, {structural} structural and {semantic} semantic spoiled plans")
    print(", ".join(f"{kind} {kinds[kind]}" for kind in STRUCTURAL + SEMANTIC))
    if len(set(ids)) != len(ids):
        wrong.append("an id is used twice")
    if wrong:
        sys.exit("\n".join(wrong))


main()
