#!/usr/bin/env python3
"""Builds the estates that `planner bench tokens` is shown on, from public data that you have.

    benches/estates/build.py --from FOLDER --out FOLDER

--from holds the sets, each with `queries.jsonl` ({"id", "query", "gold": [...]}, one a line):

    schema/*/    catalog.jsonl (one table a line: id, db, table, columns, keys), databases/NAME/schema.sql and
                 descriptions.json
    api/*/       catalog.jsonl (one operation a line: id, api), specs/NAME.json or .yaml
    docs/*/      docs/NAME.md, one section of a page a file, its first line `# heading`

Into --out it writes one folder an estate, with `catalog.yaml`, `queries.jsonl` and the files they name:

    databases    5 databases with together 50 tables, of all sets of schemas, at least two of each
    databases-SET  the same from one set alone: spider2 has tables as they are in warehouses, spider_kaggle small ones
    apis         10 APIs with together 100 operations
    documents    20 documents
    all          the three above in one catalog
    tables-N     the same questions over 10, 100, 1,000 and 10,000 tables
    schema       every database and every question of the --growth set

Then:

    planner bench tokens --estate OUT/databases --estate OUT/databases-spider2 --estate OUT/databases-spider_kaggle \\
        --estate OUT/apis --estate OUT/documents --estate OUT/all --prompt minimal --limit 60
        (and with --profile full, to compare the sets of tools)
    planner bench tokens --estate OUT/tables-10 --estate OUT/tables-100 --estate OUT/tables-1000 \\
        --estate OUT/tables-10000 --prompt minimal
    planner bench tokens --estate OUT/schema --limit 300

What it does not show: a catalog with rows (the schemas here are without data, so that nobody samples a value), and what
a language model does with it: the offline planner asks the same of every catalog.

What is chosen is not a matter of taste: of all choices of so many parents with exactly so many things, the one that
holds the most questions whole; of equals the first by name. That databases come from every set, at least two of each,
was fixed before that estate was measured; the rule before it took spider2 alone, and is kept as databases-spider2.
Documents are the pages that the most questions need. A page is put together from its sections: the name of a section's
file is that of its page and of its heading.

Growth: the first ten tables are whole databases with the most questions. Then come the other databases of the set, in
the order of the SHA-256 of their names, as long as they fit. When all are in, copies follow: each copy of a database
has another name; every word of its tables' names is replaced by another word of the set's own names, and so is every
second word of its columns and descriptions (by a hash, the same word in the same way within one copy). So a copy reads
like a schema, competes in the search, and is no exact duplicate of anything that a question needs.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import shutil

GROWTH = (10, 100, 1_000, 10_000)

SAID = {"databases": "5 databases, 50 tables", "apis": "10 APIs, 100 operations", "documents": "20 documents"}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def digest(*parts):
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "big")


def best(sizes, weights, total, count=None, group=lambda name: "", each=0):
    """The names whose sizes add up to `total`, `count` of them where it is given and at least `each` of every group,
    with the largest weight together."""
    groups = sorted({group(name) for name in sizes})
    place = {name: at for at, name in enumerate(groups)}
    found = {((0,) * len(groups), 0): (0, ())}
    for name in sorted(sizes):
        at = place[group(name)]
        for (many, size), (weight, names) in list(found.items()):
            # Without a count it does not matter how many there are.
            more = many if count is None else many[:at] + (many[at] + 1,) + many[at + 1:]
            key = (more, size + sizes[name])
            if key[1] <= total and (count is None or sum(more) <= count):
                if key not in found or weight + weights[name] > found[key][0]:
                    found[key] = (weight + weights[name], names + (name,))
    fit = [value for (many, size), value in found.items()
           if size == total and (count is None or sum(many) == count and min(many) >= each)]
    if not fit:
        raise SystemExit(f"no choice has exactly {total}")
    return max(fit, key=lambda value: value[0])[1]


def within(queries, parent_of, chosen):
    """The questions whose gold lies within these parents."""
    return [q for q in queries if all(parent_of.get(name) in chosen for name in q["gold"])]


def weights(queries, parent_of):
    """How many questions each parent holds whole."""
    count = collections.Counter()
    for query in queries:
        parents = {parent_of.get(name) for name in query["gold"]}
        if len(parents) == 1:
            count[parents.pop()] += 1
    return count


def spread(queries, most):
    """At most so many of them, evenly spread."""
    return queries if len(queries) <= most else [queries[at * len(queries) // most] for at in range(most)]


class Estate:
    """A folder that a catalog is written into."""

    def __init__(self, out, name):
        self.folder = out / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.databases, self.has, self.queries = [], set(), []

    def database(self, name, ddl, descriptions):
        folder = self.folder / "databases"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.sql").write_text(ddl, encoding="utf-8")
        entry = {"name": name, "type": "ddl", "path": f"databases/{name}.sql"}
        if descriptions:
            (folder / f"{name}.json").write_text(descriptions, encoding="utf-8")
            entry["descriptions"] = f"databases/{name}.json"
        self.databases.append(entry)

    def file(self, kind, name, text):
        (self.folder / kind).mkdir(exist_ok=True)
        (self.folder / kind / name).write_text(text, encoding="utf-8")
        self.has.add(kind)

    def ask(self, queries, kind, gold=lambda name: name, dataset=None):
        for query in queries:
            self.queries.append({"id": query["id"], "query": query["query"], "kind": kind,
                                 "gold": [gold(name) for name in query["gold"]],
                                 "dataset": dataset or query.get("dataset", kind)})

    def write(self, said):
        catalog = []
        if self.databases:
            catalog.append("databases:")
            for entry in self.databases:
                # JSON strings are YAML strings.
                catalog += ["  - " + "\n    ".join(f"{key}: {json.dumps(value)}" for key, value in entry.items())]
        if "apis" in self.has:
            catalog += ["apis:", '  - path: "apis/*"']
        if "documents" in self.has:
            catalog += ["documents:", '  - path: "documents/*.md"']
        (self.folder / "catalog.yaml").write_text("\n".join(catalog) + "\n", encoding="utf-8")
        text = "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in self.queries)
        (self.folder / "queries.jsonl").write_text(text, encoding="utf-8")
        print(f"{self.folder}: {said}, {len(self.queries)} questions")


def source(folder, database):
    """The files of a database as they are."""
    folder = folder / "databases" / database
    described = folder / "descriptions.json"
    ddl = (folder / "schema.sql").read_text(encoding="utf-8")
    return ddl, described.read_text(encoding="utf-8") if described.exists() else None


def databases(folders, estates):
    """Databases of one set, or at least two of each of several."""
    folder_of, tables, queries = {}, [], []
    for folder in folders:
        own = lines(folder / "catalog.jsonl")
        folder_of.update({table["db"]: folder for table in own})
        tables += own
        queries += lines(folder / "queries.jsonl")
    parent_of = {table["id"]: table["db"] for table in tables}
    each = 2 if len(folders) > 1 else 0
    sizes = collections.Counter(parent_of.values())
    chosen = best(sizes, weights(queries, parent_of), 50, 5, folder_of.get, each)
    # A database is called by the last part of its name.
    short = {name: name.rsplit(".", 1)[-1] for name in chosen}
    for estate in estates:
        for name in chosen:
            estate.database(short[name], *source(folder_of[name], name))
        renamed = {table["id"]: f"{short[table['db']]}.{table['table']}" for table in tables if table["db"] in short}
        estate.ask(within(queries, parent_of, chosen), "table", renamed.get)


def apis(folder, estates):
    operations, queries = lines(folder / "catalog.jsonl"), lines(folder / "queries.jsonl")
    parent_of = {operation["id"]: operation["api"] for operation in operations}
    chosen = best(collections.Counter(parent_of.values()), weights(queries, parent_of), 100, 10)
    for estate in estates:
        for path in sorted((folder / "specs").iterdir()):
            if path.stem in chosen:
                estate.file("apis", path.name, path.read_text(encoding="utf-8"))
        estate.ask(within(queries, parent_of, chosen), "operation")


def documents(folder, estates):
    sections, pages = {}, collections.defaultdict(list)
    for path in sorted((folder / "docs").glob("*.md")):
        heading, _, text = path.read_text(encoding="utf-8").partition("\n")
        heading = heading.removeprefix("# ").strip()
        slug = re.sub(r"[^a-z0-9]+", "-", heading.lower().replace("’", "").replace("'", "")).strip("-")
        page = path.stem.removesuffix(f"-{slug}")
        sections[path.stem] = (page, heading)
        # A `#` at the beginning of any other line belongs to an example.
        pages[page].append(f"## {heading}\n" + re.sub(r"^(#+ )", r"    \1", text, flags=re.M))
    queries = lines(folder / "queries.jsonl")
    needed = collections.Counter(page for q in queries for page in {sections[name][0] for name in q["gold"]})
    chosen = sorted(needed, key=lambda page: (-needed[page], page))[:20]
    parent_of = {name: page for name, (page, _) in sections.items()}
    for estate in estates:
        for page in chosen:
            title = page.removeprefix("en-docs-").replace("-", " ").capitalize()
            estate.file("documents", f"{page}.md", f"# {title}\n\n" + "\n".join(pages[page]))
        estate.ask(within(queries, parent_of, chosen), "document", lambda name: "#".join(sections[name]), folder.name)


WORD = re.compile(r"[A-Za-z]{3,}")


def words(text):
    """Words of an identifier: `InvoiceLine` and `invoice_line` have two."""
    return WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))


def changed(copy, text, vocabulary, all_words):
    """The text with other words."""

    def other(match):
        word = match.group()
        value = digest(copy, word.lower())
        if not all_words and value % 2:
            return word
        new = vocabulary[value // 2 % len(vocabulary)]
        new = vocabulary[(value // 2 + 1) % len(vocabulary)] if new == word.lower() else new
        return new.upper() if word.isupper() else new.capitalize() if word[0].isupper() else new

    return WORD.sub(other, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text))


def copied(copy, tables, vocabulary):
    """A database with other words: its DDL and its descriptions, as JSON."""
    table_names, column_names, ddl, described = {}, {}, [], {}

    def unique(name, taken):
        taken = {known.lower() for known in taken}
        return name if name.lower() not in taken else next(
            f"{name}_{at}" for at in range(2, 1_000) if f"{name}_{at}".lower() not in taken)

    for table in tables:
        table_names[table["table"]] = unique(changed(copy, table["table"], vocabulary, True), table_names.values())
        names = {}
        for column in table["columns"]:
            names[column["name"]] = unique(changed(copy, column["name"], vocabulary, False), names.values())
        column_names[table["table"]] = names
    quoted = lambda name: '"' + name.replace('"', "") + '"'
    for table in tables:
        names, keys = column_names[table["table"]], []
        rows = [f"  {quoted(names[column['name']])} {column.get('type') or 'text'}" for column in table["columns"]]
        for key in table.get("foreign_keys") or []:
            to = key["ref_table"]
            if to in table_names and key["ref_column"] in column_names[to] and key["column"] in names:
                keys.append(f"  FOREIGN KEY ({quoted(names[key['column']])}) REFERENCES "
                            f"{quoted(table_names[to])} ({quoted(column_names[to][key['ref_column']])})")
        primary = [quoted(names[name]) for name in table.get("primary_key") or [] if name in names]
        if primary:
            keys.insert(0, f"  PRIMARY KEY ({', '.join(primary)})")
        ddl.append(f"CREATE TABLE {quoted(table_names[table['table']])} (\n" + ",\n".join(rows + keys) + "\n);\n")
        entry = {}
        for column in table["columns"]:
            said = {}
            if column.get("name_nl") and column["name_nl"].lower() != column["name"].lower():
                said["name"] = changed(copy, column["name_nl"], vocabulary, False)
            if column.get("description"):
                said["description"] = changed(copy, column["description"], vocabulary, False)
            if said:
                entry[names[column["name"]]] = said
        if entry:
            described[table_names[table["table"]]] = {"columns": entry}
    return "\n".join(ddl), json.dumps(described, indent=0) if described else None


def growth(folder, out, most):
    tables, queries = lines(folder / "catalog.jsonl"), lines(folder / "queries.jsonl")
    by_database = collections.defaultdict(list)
    for table in tables:
        by_database[table["db"]].append(table)
    parent_of = {table["id"]: table["db"] for table in tables}
    sizes = {name: len(own) for name, own in by_database.items()}
    first = best(sizes, weights(queries, parent_of), GROWTH[0])
    asked = spread(within(queries, parent_of, first), most)
    vocabulary = sorted({word.lower() for table in tables for name in [table["table"]] +
                         [column["name"] for column in table["columns"]] for word in words(name)})
    order = sorted(by_database, key=digest)

    def supply():
        yield from ((name, name, 0) for name in order if name not in first)
        copy = 1
        while True:
            yield from ((f"{changed(copy, name, vocabulary, True)}_{copy}", name, copy) for name in order)
            copy += 1

    chosen, waiting, more = [(name, name, 0) for name in first], [], supply()
    total = sum(sizes[name] for name in first)
    for size in GROWTH:
        # What did not fit before comes first.
        later, waiting = waiting, []
        while total < size:
            name, origin, copy = later.pop(0) if later else next(more)
            if total + sizes[origin] <= size:
                chosen.append((name, origin, copy))
                total += sizes[origin]
            else:
                waiting.append((name, origin, copy))
        waiting += later
        estate = Estate(out, f"tables-{size}")
        for name, origin, copy in chosen:
            files = copied(copy, by_database[origin], vocabulary) if copy else source(folder, origin)
            estate.database(name, *files)
        estate.ask(asked, "table", dataset=f"{size} tables")
        estate.write(f"{total} tables")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--databases", nargs="+", default=["schema/spider2", "schema/spider_kaggle"], metavar="SET",
                        help="the sets of databases [schema/spider2 schema/spider_kaggle]")
    parser.add_argument("--apis", default="api/main", help="the set of APIs [%(default)s]")
    parser.add_argument("--documents", default="docs/anthropic_docs", help="the set of documents [%(default)s]")
    parser.add_argument("--growth", default="schema/spider_kaggle", help="the set that grows [%(default)s]")
    parser.add_argument("--questions", type=int, default=60, help="at most so many for growth [%(default)s]")
    args = parser.parse_args()
    everything = Estate(args.out, "all")
    sets = [args.source / name for name in args.databases]
    wanted = [("databases", databases, sets, True)]
    wanted += [(f"databases-{one.name}", databases, [one], False) for one in sets if len(sets) > 1]
    wanted.append(("apis", apis, args.source / args.apis, True))
    wanted.append(("documents", documents, args.source / args.documents, True))
    for name, build, given, in_all in wanted:
        estate = Estate(args.out, name)
        build(given, [estate, everything] if in_all else [estate])
        estate.write(SAID[name.split("-")[0]])
    everything.write("all of it")
    growth(args.source / args.growth, args.out, args.questions)
    whole, folder = Estate(args.out, "schema"), args.source / args.growth
    for database in sorted(path.name for path in (folder / "databases").iterdir()):
        whole.database(database, *source(folder, database))
    whole.ask(lines(folder / "queries.jsonl"), "table")
    whole.write("every database of the set")


if __name__ == "__main__":
    main()
