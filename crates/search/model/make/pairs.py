"""From units to pairs of texts that belong together: what one would ask, and the record that answers it.

Records are worded as `crates/search/src/recipe.rs` words them: with everything, or with what names them.
"""

import re

SHORT, LONG = 0, 1

ASKED = (
    "{}", "{}", "I want to {}", "I need to {}", "How do I {}?", "Can you {}?", "Please {}", "Could you help me {}?",
    "I would like to {}", "help me {}", "Is there a way to {}?", "{} for me", "We need to {} next week",
)  # fmt: skip
QUESTIONS = (
    "What is the {a} of each {t}?", "List the {a} and {b} of all {t}.", "How many {t} are there for each {a}?",
    "Which {t} has the highest {a}?", "Show the {a}, {b} and {c} of every {t} ordered by {b}.", "Count the {t} by {a}.",
    "Find the {a} of the {t} whose {b} is above the average.", "What are the {a} of {t} with {b} greater than 10?",
    "For each {t}, what is the average {a}?", "Give me all {t} that have no {a}.", "Return the {t} with the most {a}.",
    "What is the total {a} of the {t} in 2019?", "Who has the lowest {a} among the {t}?", "{t} {a} {b}",
    "Which {a} is the most common, and how many {t} have it?", "What is the {a} and {b} of the oldest {t}?",
    "Tell me the {a} for the {t} named Smith.", "How many different {a} do the {t} have?", "{a}, {b}, {c}",
)  # fmt: skip
NOT_TAUGHT = re.compile(r"async|with_http_info|_page$|^to_dict$|^to_str$|^from_|^\w$")
ACCESSOR = re.compile(r"(Sets|Gets) the \w+ of this ")


def split(name):
    """`ListRDSInstances` as `List RDS Instances`; dots, dashes and underscores as spaces."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[\W_]+", " ", name).strip()


def sentences(text):
    """The sentences of three words or more."""
    return [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(])", text) if len(part.split()) > 2]


def imperative(sentence):
    """`Lists the orders.` as `list the orders`; other sentences only lose their stop."""
    first, _, rest = sentence.rstrip(".").partition(" ")
    first = first[:1].lower() + first[1:] if first[1:].islower() else first
    for end, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("s", "")):
        if first.endswith(end) and not first.endswith("ss") and first not in ("this", "is", "has", "does", "always"):
            first = first[: -len(end)] + instead
            break
    return f"{first} {rest}"


def record(unit, chance, without=None, short=False):
    """The text of a record. A sentence that the question was made of is left out."""
    said = [s for s in sentences(unit.description) if s is not without]
    said = " ".join(said)
    name = unit.name if chance.random() < 0.7 else split(unit.name)
    if short:
        parts = [name, unit.route, said] if unit.kind != "type" else [name, unit.parent]
    elif unit.kind == "type":
        parts = [
            name,
            unit.parent,
            said,
            " ".join(n for n, _ in unit.members),
            "\n".join(d for _, d in unit.members if d and d is not without),
        ]
    else:
        members = "\n".join(f"{n} {d}" for n, d in unit.members if d is not without)
        parts = [name, unit.route, said, unit.parent, members]
    return " . ".join(part for part in parts if part)


def pairs(units, chance):
    """(question, record, whether the record is the short or the long one), in the order of the units."""
    for unit in units:
        if not NOT_TAUGHT.search(unit.name) and not ACCESSOR.match(unit.description):
            yield from (of_type if unit.kind == "type" else of_operation)(unit, chance)


def of_operation(unit, chance):
    said = sentences(unit.description)
    if said:
        asked = chance.choice(ASKED).format(imperative(said[0]))
        # Often the record keeps the sentence: words that occur in both must stay worth something.
        without = said[0] if chance.random() < 0.6 else None
        short = chance.random() < 0.5 and (without is None or len(said) > 1 or bool(unit.route))
        yield asked, record(unit, chance, without, short), SHORT if short else LONG
        if len(said) > 1 and chance.random() < 0.5:
            sentence = chance.choice(said[1:])
            short = chance.random() < 0.5
            yield sentence, record(unit, chance, sentence, short), SHORT if short else LONG
    if len(unit.name) > 3 and (len(said) > 0 or unit.members) and chance.random() < 0.5:
        text = " . ".join([unit.description, *(f"{n} {d}" for n, d in unit.members)])
        yield chance.choice(ASKED).format(split(unit.name).lower()), text, LONG


def of_type(unit, chance):
    said = sentences(unit.description)
    named = [(split(n).lower(), d) for n, d in unit.members if len(n) > 1]
    name = split(unit.name).lower()
    if said:
        sentence = chance.choice(said[:2])
        short = not unit.members or chance.random() < 0.3
        yield (
            sentence,
            unit.name + " . " + unit.parent if short else record(unit, chance, sentence),
            SHORT if short else LONG,
        )
    if len(named) >= 3:
        for _ in range(2):
            picked = chance.sample(named, 3)
            # Some fields by what is said of them, so that a question need not know the names.
            a, b, c = (first_clause(d) if d and chance.random() < 0.4 else n for n, d in picked)
            short = chance.random() < 0.25
            yield (
                chance.choice(QUESTIONS).format(a=a, b=b, c=c, t=name),
                record(unit, chance, short=short),
                SHORT if short else LONG,
            )
        described = [(n, d) for n, d in unit.members if len(d.split()) > 3]
        if described:
            _, text = chance.choice(described)
            yield text, record(unit, chance, text), LONG


def first_clause(text):
    text = re.split(r"[.,;:(]", text, maxsplit=1)[0]
    return re.sub(
        r"^(the|a|an|optional|required|output only|indicates|specifies|whether)\b ?",
        "",
        text.strip(),
        flags=re.IGNORECASE,
    )[:80].lower()
