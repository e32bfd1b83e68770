#!/usr/bin/env python3
"""Loads SQLite databases into servers, so that the same queries can be asked there.

    load.py FOLDER QUERIES.jsonl --out OUT [--postgres URL] [--mariadb URL]
    load.py --drop [--postgres URL] [--mariadb URL]

FOLDER holds `<database>/<database>.sqlite`; those that QUERIES names are loaded, each into a database of its own,
`gold_<database>`, made anew. OUT gets `postgres.yaml` and `mariadb.yaml`, catalogs for `planner bench sql`, with the
password of the URL in them. `--drop` takes the databases away again. Needs psycopg2 and pymysql.

The type of a column is that of its values: whole numbers, floating point numbers, dates and times where it was declared
so, else text. Names are in small letters for PostgreSQL, which folds them so. MariaDB compares the names of tables as
they are written: there each table is loaded once under every spelling that a query has. Keys to other tables are left out.
"""

import argparse
import contextlib
import json
import pathlib
import re
import sqlite3
import urllib.parse

PREFIX = "gold_"

DATE = re.compile(r"\d{4}-\d\d-\d\d")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?")


def connect(url, database=None):
    """A connection that commits each statement, to the database of that name or to that of the URL."""
    place = urllib.parse.urlsplit(url)
    user, password = (urllib.parse.unquote(part or "") for part in (place.username, place.password))
    path = database or place.path.strip("/")
    if place.scheme.startswith("postgres"):
        import psycopg2

        made = psycopg2.connect(
            host=place.hostname, port=place.port or 5432, user=user, password=password, dbname=path or "postgres"
        )
        made.autocommit = True
        return made
    import pymysql

    return pymysql.connect(
        host=place.hostname,
        port=place.port or 3306,
        user=user,
        password=password,
        database=path or None,
        charset="utf8mb4",
        autocommit=True,
    )


def is_postgres(url):
    return url.startswith("postgres")


def quoted(url, name):
    return '"%s"' % name.replace('"', '""') if is_postgres(url) else "`%s`" % name.replace("`", "``")


def type_of(url, declared, values):
    """The type for values of a column, by what they are."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, int) for value in present):
        return "BIGINT"
    if present and all(isinstance(value, (int, float)) for value in present):
        return "DOUBLE PRECISION" if is_postgres(url) else "DOUBLE"
    texts = [value if isinstance(value, str) else str(value) for value in present]
    if texts and re.search("date|time", declared, re.I):
        if all(DATE.fullmatch(text) for text in texts):
            return "DATE"
        if all(MOMENT.fullmatch(text) for text in texts):
            return "TIMESTAMP" if is_postgres(url) else "DATETIME"
    if not present and re.search("int", declared, re.I):
        return "BIGINT"
    if is_postgres(url):
        return "TEXT"
    longest = max((len(text) for text in texts), default=0)
    # SQLite tells capital letters from small ones.
    return ("VARCHAR(255)" if longest <= 255 else "LONGTEXT") + " COLLATE utf8mb4_bin"


def spelled(url, table, queries):
    """The names under which a table is loaded."""
    if is_postgres(url):
        return [table.lower()]
    written = {word for sql in queries for word in re.findall(r"\w+", sql) if word.lower() == table.lower()}
    return sorted(written | {table})


def load(url, name, path, queries):
    """Loads one database; how many rows it has."""
    source = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    source.text_factory = lambda raw: raw.decode("utf-8", "replace")
    with contextlib.closing(connect(url)) as server, server.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {quoted(url, PREFIX + name)}")
        cursor.execute(f"CREATE DATABASE {quoted(url, PREFIX + name)}")
    target = connect(url, PREFIX + name)
    cursor, loaded = target.cursor(), 0
    tables = source.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    for (table,) in tables:
        columns = source.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
        rows = source.execute('SELECT * FROM "%s"' % table.replace('"', '""')).fetchall()
        names = [column.lower() if is_postgres(url) else column for column, _, _ in columns]
        types = [type_of(url, declared, [row[at] for row in rows]) for at, (_, declared, _) in enumerate(columns)]
        made = [f"{quoted(url, column)} {kind}" for column, kind in zip(names, types)]
        key = [at for at, (_, _, place) in enumerate(columns) if place]
        parts = [tuple(row[at] for at in key) for row in rows]
        if key and len(set(parts)) == len(parts) and not any(value is None for part in parts for value in part):
            if not any(types[at].startswith("LONGTEXT") for at in key):
                made.append("PRIMARY KEY (%s)" % ", ".join(quoted(url, names[at]) for at in key))
        cells = [
            tuple(value if value is None or types[at] in ("BIGINT",) or types[at].startswith("DOUBLE") else str(value)
                  for at, value in enumerate(row))
            for row in rows
        ]
        for spelling in spelled(url, table, queries):
            cursor.execute(f"CREATE TABLE {quoted(url, spelling)} ({', '.join(made)})")
            if cells:
                places = ", ".join(["%s"] * len(columns))
                cursor.executemany(f"INSERT INTO {quoted(url, spelling)} VALUES ({places})", cells)
        loaded += len(rows)
    # Plans that rest on counts are the same in every run.
    if is_postgres(url):
        cursor.execute("ANALYZE")
    target.close()
    return loaded


def drop(url):
    with contextlib.closing(connect(url)) as server, server.cursor() as cursor:
        names = "SELECT datname FROM pg_database" if is_postgres(url) else "SHOW DATABASES"
        cursor.execute(names)
        for (name,) in cursor.fetchall():
            if name.startswith(PREFIX):
                cursor.execute(f"DROP DATABASE {quoted(url, name)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("queries", nargs="?", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--postgres")
    parser.add_argument("--mariadb")
    parser.add_argument("--drop", action="store_true")
    options = parser.parse_args()
    urls = [url for url in (options.postgres, options.mariadb) if url]
    if options.drop:
        for url in urls:
            drop(url)
        return
    if not (options.folder and options.queries and options.out):
        parser.error("FOLDER, QUERIES and --out are needed")
    asked = {}
    for line in options.queries.read_text().splitlines():
        query = json.loads(line)
        asked.setdefault(query.get("database") or query["db"], []).append(query.get("sql") or "")
    options.out.mkdir(parents=True, exist_ok=True)
    for url in urls:
        entries, rows = [], 0
        for name, queries in sorted(asked.items()):
            path = options.folder / name / f"{name}.sqlite"
            if path.exists():
                rows += load(url, name, path, queries)
                place = urllib.parse.urlsplit(url)._replace(path="/" + PREFIX + name).geturl()
                entries.append(f"  - name: {name}\n    url: {json.dumps(place)}\n")
        out = options.out / ("postgres.yaml" if is_postgres(url) else "mariadb.yaml")
        out.write_text("databases:\n" + "".join(entries))
        print(f"{out}: {len(entries)} databases, {rows} rows")


if __name__ == "__main__":
    main()
