#!/usr/bin/env python3
"""Generates the data of the sample catalog: the music_store database and the data files.

Needs Python 3.11 and pyarrow (written with 26.0); nothing else. From the root of the project:

    python3.11 -m venv /tmp/venv && /tmp/venv/bin/pip install pyarrow==26.0.1
    /tmp/venv/bin/python catalog/generate.py            # writes, then checks what it wrote
    /tmp/venv/bin/python catalog/generate.py --check    # writes nothing; compares the committed files with the generated ones

Everything is invented and drawn from random streams with a fixed seed, one per data set, so that a change of
one does not affect the others. CSV, JSON, JSONL and the SQL dump of the database are reproducible byte for byte;
the bytes of the SQLite, Parquet and Arrow files also depend on the library that writes them, so `--check` compares
their content.
"""

import argparse
import csv
import datetime as dt
import json
import math
import pathlib
import random
import sqlite3
import sys
import tempfile
from collections import namedtuple

import pyarrow as pa
from pyarrow import feather, parquet

HERE = pathlib.Path(__file__).resolve().parent
SEED = 20260101
FIRST, LAST = dt.date(2023, 1, 1), dt.date(2025, 12, 31)
N_ARTISTS, N_ALBUMS, N_CUSTOMERS = 170, 320, 720
MAX_DATABASE_BYTES = 1_200_000

SCHEMA = (HERE / "databases" / "music_store.schema.sql").read_text(encoding="utf-8")

# code, name, region, currency, tax contained in a price (percent), share of the customers, cities
COUNTRIES = [
    ("US", "United States", "AMER", "USD", 0, 26, ["Portland", "Austin", "Chicago", "Denver", "Boston"]),
    ("CA", "Canada", "AMER", "CAD", 5, 8, ["Toronto", "Montreal", "Vancouver"]),
    ("BR", "Brazil", "AMER", "BRL", 12, 10, ["Recife", "Curitiba", "Porto Alegre"]),
    ("DE", "Germany", "EMEA", "EUR", 19, 13, ["Hamburg", "Leipzig", "Munich", "Cologne"]),
    ("FR", "France", "EMEA", "EUR", 20, 8, ["Lyon", "Nantes", "Lille"]),
    ("GB", "United Kingdom", "EMEA", "GBP", 20, 10, ["Leeds", "Bristol", "Glasgow"]),
    ("ES", "Spain", "EMEA", "EUR", 21, 4, ["Valencia", "Bilbao"]),
    ("PT", "Portugal", "EMEA", "EUR", 23, 3, ["Porto", "Lisbon"]),
    ("SE", "Sweden", "EMEA", "SEK", 25, 3, ["Uppsala", "Malmo"]),
    ("JP", "Japan", "APAC", "JPY", 10, 7, ["Osaka", "Sapporo", "Nagoya"]),
    ("AU", "Australia", "APAC", "AUD", 10, 5, ["Hobart", "Brisbane"]),
    ("IN", "India", "APAC", "INR", 18, 3, ["Pune", "Chennai"]),
]
CURRENCY = {code: currency for code, _, _, currency, *_ in COUNTRIES}
REGION = {code: region for code, _, region, *_ in COUNTRIES}
TAX = {code: tax for code, _, _, _, tax, *_ in COUNTRIES}

GENRES = {  # parent: its children
    "Rock": ["Garage Rock", "Post-Rock", "Folk Rock"], "Electronic": ["Ambient", "House", "Downtempo"],
    "Jazz": ["Swing", "Free Jazz", "Latin Jazz"], "Classical": ["Chamber Music", "Orchestral", "Choral"],
    "Folk": ["Sea Songs", "Fiddle Tunes"], "Hip-Hop": ["Instrumental Hip-Hop"], "Reggae": ["Dub"], "Pop": ["Synth Pop"],
}
MEDIA = [  # name, code of the format, lossless, shipped, price range, share of the tracks
    ("MP3 320 kbit/s", "mp3", 0, 0, (0.89, 0.99, 1.29), 56), ("AAC 256 kbit/s", "aac", 0, 0, (0.89, 0.99, 1.29), 16),
    ("FLAC lossless", "flac", 1, 0, (1.49, 1.79, 1.99), 19), ("CD single", "cd", 1, 1, (3.99, 4.99), 5),
    ("Vinyl 7-inch", "vin7", 1, 1, (6.99, 7.99, 8.99), 4),
]
PROMOTIONS = [  # code, description, percent, from, to
    ("WELCOME10", "Ten percent off the first order of a new customer", 10, "2023-01-01", None),
    ("SPRING23", "Spring week", 10, "2023-03-20", "2023-03-27"),
    ("BF23", "Black Friday week", 20, "2023-11-20", "2023-11-27"),
    ("SUMMER23", "Summer sale", 15, "2023-07-10", "2023-07-23"),
    ("YEAREND23", "Year-end thanks", 10, "2023-12-26", "2023-12-31"),
    ("SPRING24", "Spring week", 10, "2024-03-18", "2024-03-25"),
    ("SUMMER24", "Summer sale", 15, "2024-07-08", "2024-07-21"),
    ("BF24", "Black Friday week", 20, "2024-11-25", "2024-12-02"),
    ("SPRING25", "Spring week", 10, "2025-03-24", "2025-03-31"),
    ("SUMMER25", "Summer sale", 15, "2025-07-07", "2025-07-20"),
    ("BF25", "Black Friday week", 20, "2025-11-24", "2025-12-01"),
    ("EDUSTART", "Start of term, schools only", 12, "2025-09-01", "2025-09-30"),
]
EMPLOYEES = [  # first name, last name, title, reports to, hired, country
    ("Ottilie", "Marbeck", "General Manager", None, "2019-02-01", "US"),
    ("Ruben", "Castellor", "Head of Customer Support", 1, "2019-06-17", "US"),
    ("Ines", "Valderra", "Customer Support Representative", 2, "2020-01-13", "PT"),
    ("Tomas", "Grevling", "Customer Support Representative", 2, "2020-09-01", "SE"),
    ("Kaori", "Minasu", "Customer Support Representative", 2, "2021-03-08", "JP"),
    ("Daniel", "Oakhurn", "Customer Support Representative", 2, "2021-11-15", "US"),
    ("Leila", "Farrowin", "Customer Support Representative", 2, "2022-05-02", "GB"),
    ("Bruno", "Teixall", "Customer Support Representative", 2, "2023-02-20", "BR"),
    ("Hanne", "Quistorp", "Finance Lead", 1, "2019-04-01", "DE"),
    ("Marcus", "Pellwyn", "Revenue Analyst", 9, "2022-08-29", "DE"),
    ("Sunita", "Raovan", "Catalog Editor", 1, "2020-10-12", "IN"),
    ("Greta", "Hollisand", "Marketing Lead", 1, "2021-01-04", "CA"),
]
REPS = [number for number, row in enumerate(EMPLOYEES, 1) if row[2] == "Customer Support Representative"]
WAREHOUSES = [  # code, city, country, region, opened, capacity, carriers, latitude, longitude
    ("RNO1", "Reno", "US", "AMER", "2020-04-01", 42000, ["Parcelwing", "Blue Mule"], 39.53, -119.81),
    ("LEJ1", "Leipzig", "DE", "EMEA", "2021-09-15", 30000, ["Parcelwing", "Nordpost Express"], 51.34, 12.37),
    ("NGO1", "Nagoya", "JP", "APAC", "2023-02-01", 12000, ["Heronline"], 35.18, 136.91),
    ("CWB1", "Curitiba", "BR", "AMER", "2024-05-20", 9000, ["Blue Mule"], -25.43, -49.27),
]
CHANNELS = ["organic_search", "paid_search", "paid_social", "email", "direct"]
SEASON = [0.92, 0.86, 1.0, 0.94, 0.9, 0.84, 0.8, 0.78, 0.95, 1.05, 1.4, 1.75]  # January to December

GIVEN = """
    Ada Adrian Aiko Alba Alice Amara Anders Anil Anouk Asha Astrid Ayaka Beatriz Ben Bianca Bjorn Caio Carla Chen
    Clara Claude Conrad Dalia Diego Edith Eero Elena Elias Emil Enzo Erik Esme Farah Felix Fiona Flora Gael Gita
    Hana Haruto Helena Hugo Ida Igor Ilse Ingrid Ivo Jana Jonas Joao Julia Kai Karin Kenji Lars Laura Leo Lina Livia
    Lotte Louis Luca Lucia Maeve Mara Marco Marta Matteo Maya Mei Milo Mina Nadia Nils Nina Noah Nora Olive Omar
    Otto Paula Pedro Petra Priya Rafael Ravi Rita Rosa Ruth Sana Selma Simon Sofia Stella Sven Tara Theo Tilda Uma
    Vera Viktor Wanda Yara Yuki Zoe
""".split()
SURNAME_HEADS = """
    Ald Ber Brin Cal Cor Dal Dren Ell Fal Fenn Gar Gren Hal Hol Ibb Jor Kel Kirr Lan Lor Mar Mel Nor Orm Pell Quen
    Ral Ros Sel Stav Tam Thal Ull Var Vel Wen Wyn Yar Zan Zell
""".split()
SURNAME_TAILS = """
    adine aro beck dorf ello enko esque gren ius mere mont nick ovic quist stad thorn towe uchi yama
""".split()
ADJECTIVES = """
    Amber Borrowed Brass Cinder Cobalt Copper Crooked Distant Drowsy Electric Faded Feral Folded Gilded Glass Hollow
    Idle Ivory Lunar Marbled Midday Mossy Paper Patient Pewter Quiet Restless Rusted Salted Scarlet Second Slow
    Sunken Tangled Tidal Turning Velvet Wandering Winter Woven
""".split()
NOUNS = """
    Anchor Arcade Atlas Beacon Bicycle Bramble Canal Carousel Chapel Comet Compass Engine Fable Ferry Garden Glacier
    Harbour Heron Kettle Ladder Lantern Lighthouse Magnet Meadow Mirror Moth Orchard Parade Pigeon Pylon Quarry
    Railway River Satellite Signal Sparrow Staircase Stairwell Telegraph Thimble Timber Tramway Umbrella Violet
    Weather Window
""".split()
CREWS = "Assembly Brigade Collective Duo Ensemble Parlour Quartet Society Trio Union Workshop".split()
OPENERS = ["", "", "", "After the ", "Beyond the ", "Dear ", "Letters to the ", "My ", "No More ", "Song of the ",
           "The ", "Under the "]
PLAN_FEES = {"SOLO": 4.99, "DUO": 7.49, "FAM": 9.99}
PLAYLISTS = ["Best of", "Evening", "Morning", "Slow", "Road trip", "Focus", "New in"]
PRAISE = ["Wonderful from the first bar.", "The second half is the better one.", "A record for long train journeys.",
          "Warm sound, careful playing.", "Better every time.", "Bought it twice, once as a gift."]
DOUBT = ["Pleasant, but I skip two tracks.", "The mastering is too loud for me.", "Good ideas, uneven pace.",
         "Fine in the background."]
BLAME = ["Not what the preview promised.", "The sleeve arrived bent.", "Too short for the price.",
         "The download stopped half-way twice."]


Track = namedtuple("Track", "track_id title album_id genre_id media_type_id trk_no dur_ms unit_price")
Customer = namedtuple("Customer", "customer_id first last email country city segment rep signup channel optin")
Invoice = namedtuple(
    "Invoice", "invoice_id customer_id day status method promo country currency subtotal discount tax total"
)
Line = namedtuple("Line", "line_id invoice_id track_id unit_price copies")


def stream(name):
    """The random stream of one data set."""
    return random.Random(f"{SEED}/{name}")


def poisson(rng, mean):
    limit, product, count = math.exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count


def pick(rng, weights):
    """One key of a mapping from values to weights."""
    return rng.choices(list(weights), list(weights.values()))[0]


def cents(amount):
    """Rounded to cents; half a cent goes up, as on the invoice, whatever the binary fraction says."""
    return math.floor(amount * 100 + 0.5 + 1e-6) / 100


def contained_tax(amount, country):
    return cents(amount * TAX[country] / (100 + TAX[country]))


def days(number):
    return dt.timedelta(days=number)


def some_country(rng):
    """A row of COUNTRIES, by its share of the customers."""
    return rng.choices(COUNTRIES, [row[5] for row in COUNTRIES])[0]


def distinct(rng, make, count):
    """`count` different values of `make(rng)`, in the order they came."""
    found = {}
    while len(found) < count:
        found.setdefault(make(rng))
    return list(found)


# --- The music_store database -----------------------------------------------------------------------------------------


def recordings():
    """Products: the rows of genres, media types, labels, artists, albums and tracks."""
    rng = stream("recordings")
    genres, leaves = [], []
    for parent, children in GENRES.items():
        genres.append((len(genres) + 1, parent, None))
        parent_id = len(genres)
        for child in children:
            genres.append((len(genres) + 1, child, parent_id))
            leaves.append(len(genres))
    media = [(number, row[0], row[1], row[2], row[3]) for number, row in enumerate(MEDIA, 1)]

    def label_name(r):
        return f"{r.choice(ADJECTIVES)} {r.choice(NOUNS)} {r.choice(['Records', 'Discs', 'Editions'])}"

    def artist_name(r):
        name = f"{r.choice(ADJECTIVES)} {r.choice(NOUNS)}"
        person = f"{r.choice(GIVEN)} {r.choice(SURNAME_HEADS)}{r.choice(SURNAME_TAILS)}"
        return r.choice([name if name.endswith("y") else f"The {name}s", f"{name} {r.choice(CREWS)}", person, name])

    def title(r):
        return f"{r.choice(OPENERS)}{r.choice([r.choice(ADJECTIVES) + ' ', ''])}{r.choice(NOUNS)}"

    labels = [(number, name, rng.choice(COUNTRIES)[0], rng.choice([12, 14, 15, 16, 18]))
              for number, name in enumerate(distinct(rng, label_name, 18), 1)]
    artists = [(number, name, some_country(rng)[0], rng.randint(1968, 2022))
               for number, name in enumerate(distinct(rng, artist_name, N_ARTISTS), 1)]
    home_genre = {artist[0]: rng.choice(leaves) for artist in artists}

    albums, tracks = [], []
    for number, name in enumerate(distinct(rng, title, N_ALBUMS), 1):
        artist = artists[number - 1] if number <= N_ARTISTS else artists[int(N_ARTISTS * rng.random() ** 2)]
        year = max(artist[3], rng.choice([1998, 2005, 2012, 2016, 2019, 2020, 2021, 2022]))
        released = dt.date(year, rng.randint(1, 12), rng.randint(1, 28))
        albums.append((number, name, artist[0], rng.choice(labels)[0], released.isoformat()))
        genre = home_genre[artist[0]] if rng.random() < 0.85 else rng.choice(leaves)
        kind = rng.choices(range(len(MEDIA)), [m[5] for m in MEDIA])[0]
        count = rng.randint(1, 2) if MEDIA[kind][3] else rng.randint(4, 9)
        for position, song in enumerate(distinct(rng, title, count), 1):
            duration = rng.randint(95, 480) * 1000 + rng.randint(0, 999)
            price = rng.choice(MEDIA[kind][4])
            tracks.append(Track(len(tracks) + 1, song, number, genre, kind + 1, position, duration, price))
    return genres, media, labels, artists, albums, tracks


def customers():
    """The rows of customers, and their buying behaviour: orders per month, lines per order, the last active day."""
    rng = stream("customers")
    rows, habits = [], []
    acquisition = {"organic_search": 30, "paid_search": 22, "paid_social": 16, "email": 6, "direct": 18, "affiliate": 8}
    names = distinct(rng, lambda r: (r.choice(GIVEN), r.choice(SURNAME_HEADS) + r.choice(SURNAME_TAILS)), N_CUSTOMERS)
    for number, (first, last) in enumerate(names, 1):
        country = some_country(rng)
        segment = pick(rng, {"CON": 82, "PRO": 10, "EDU": 6, "STF": 2})
        # The web shop opened in 2021; the number of new customers per month grows slowly.
        signup = dt.date(2021, 1, 4) + days(int((LAST - dt.date(2021, 1, 4)).days * rng.random() ** 0.8))
        channel = pick(rng, acquisition)
        if channel == "affiliate" and signup > dt.date(2024, 6, 30):  # the programme was closed
            channel = "paid_social"
        email = f"{first}.{last}{number}@example.com".lower()
        rows.append(Customer(number, first, last, email, country[0], rng.choice(country[6]), segment, rng.choice(REPS),
                             signup.isoformat(), channel, int(rng.random() < 0.62)))
        rate = rng.lognormvariate(-1.8, 0.95) * (2.1 if segment != "CON" else 1.0)
        lifetime = rng.expovariate(1 / 46) + 1  # months
        habits.append((signup, signup + days(int(lifetime * 30.4)), min(rate, 1.8), 0.42 + min(rate, 1.2) * 0.22))
    return rows, habits


def orders(people, habits, tracks):
    """The rows of invoices and of their lines, ordered by date."""
    rng = stream("orders")
    popularity = [1 / (1 + 0.02 * rank) for rank in range(len(tracks))]
    rng.shuffle(popularity)
    by_popularity = [sum(popularity[: n + 1]) for n in range(len(popularity))]
    days_of_orders = []
    for person, (signup, lost, rate, appetite) in zip(people, habits):
        month = dt.date(FIRST.year, FIRST.month, 1)
        while month <= LAST:
            following = (month + days(32)).replace(day=1)
            start, end = max(month, signup), min(following, lost, LAST + days(1))
            if start < end:
                share = (end - start).days / (following - month).days
                growth = 1 + 0.12 * (month.year - FIRST.year)
                for _ in range(poisson(rng, rate * SEASON[month.month - 1] * growth * share)):
                    day = start + days(rng.randrange((end - start).days))
                    days_of_orders.append((day, person.customer_id, appetite))
            month = following
    days_of_orders.sort()
    invoices, lines, seen = [], [], set()
    for day, customer_id, appetite in days_of_orders:
        person = people[customer_id - 1]
        invoice_id = len(invoices) + 1
        subtotal, chosen = 0.0, set()
        for _ in range(min(1 + poisson(rng, 2.4 * appetite * 2), 11)):
            track = tracks[rng.choices(range(len(tracks)), cum_weights=by_popularity)[0]]
            if track.track_id in chosen:
                continue
            chosen.add(track.track_id)
            copies = pick(rng, {1: 70, 2: 15, 5: 15} if person.segment == "EDU" else {1: 93, 2: 5, 3: 2})
            lines.append(Line(len(lines) + 1, invoice_id, track.track_id, track.unit_price, copies))
            subtotal = cents(subtotal + track.unit_price * copies)
        promo = promotion(rng, day, person, customer_id not in seen)
        discount = cents(subtotal * PROMOTIONS[promo - 1][2] / 100) if promo else 0
        total = cents(subtotal - discount)
        tax = contained_tax(total, person.country)
        status = "O" if day >= dt.date(2025, 12, 24) and rng.random() < 0.3 else pick(rng, {"P": 970, "V": 22, "W": 8})
        method = pick(rng, {"CARD": 62, "WALLET": 27, "BANK": 8, "GIFT": 3 if status == "P" else 0})
        invoices.append(Invoice(invoice_id, customer_id, day.isoformat(), status, method, promo, person.country,
                                CURRENCY[person.country], subtotal, discount, tax, total))
        seen.add(customer_id)
    return invoices, lines


def promotion(rng, day, person, is_first):
    """The promotion id of an order, if any."""
    for number, (code, _, _, start, end) in enumerate(PROMOTIONS, 1):
        if code == "EDUSTART" and person.segment != "EDU":
            continue
        if end and start <= day.isoformat() <= end and rng.random() < 0.7:
            return number
    return 1 if is_first and person.signup >= "2023-01-01" and rng.random() < 0.5 else None


def after_the_order(invoices, lines, tracks, people):
    """After-sales data: the rows of refunds, shipments, gift cards."""
    rng = stream("after")
    shipped_kind = {number for number, row in enumerate(MEDIA, 1) if row[3]}
    of_invoice = {}
    for line in lines:
        of_invoice.setdefault(line.invoice_id, []).append(line)
    refunds, shipments, cards = [], [], []
    for invoice in invoices:
        own_lines, date = of_invoice[invoice.invoice_id], dt.date.fromisoformat(invoice.day)
        physical = any(tracks[line.track_id - 1].media_type_id in shipped_kind for line in own_lines)
        if invoice.status == "P" and physical:
            shipment = parcel(rng, invoice, date)
            if shipment:
                shipments.append((len(shipments) + 1, *shipment))
        if invoice.status == "P" and rng.random() < (0.07 if physical else 0.042):
            request = refund(rng, invoice, date, own_lines, physical)
            if request:
                refunds.append((len(refunds) + 1, *request))
        if invoice.method == "GIFT":
            face = next(value for value in (10, 25, 50, 100, 200) if value >= invoice.total)
            issued = date - days(rng.randint(3, 120))
            cards.append([issued, invoice.customer_id, face, invoice.invoice_id, cents(face - invoice.total)])
    for _ in range(70):  # not redeemed, or not yet
        face = rng.choice([10, 25, 25, 50])
        issued = FIRST + days(int((LAST - FIRST).days * rng.random() ** 0.7))
        cards.append([issued, rng.randint(1, N_CUSTOMERS), face, None, face])
    cards.sort(key=lambda card: card[0])
    for n, (issued, owner, face, invoice, left) in enumerate(cards):
        buyer = rng.choice([person.customer_id for person in people if person.signup <= issued.isoformat()])
        recipient, expires = people[owner - 1].email, issued + days(730)
        cards[n] = (n + 1, buyer, recipient, face, issued.isoformat(), expires.isoformat(), invoice, left)
    return refunds, shipments, cards


def parcel(rng, invoice, date):
    """The row of a shipment without its id; None if it had not left by the last day."""
    region = REGION[invoice.country]
    warehouse = {"EMEA": "LEJ1", "APAC": "NGO1", "AMER": "RNO1"}[region]
    if region == "APAC" and date < dt.date(2023, 2, 1):
        warehouse = "RNO1"
    if invoice.country == "BR" and date >= dt.date(2024, 5, 20):
        warehouse = "CWB1"
    carriers = next(row[6] for row in WAREHOUSES if row[0] == warehouse)
    sent = date + days(rng.choice([0, 1, 1, 2, 3]))
    far = region == "AMER" and invoice.country != "US"
    arrived = sent + days(rng.randint(5, 16) if far else rng.randint(2, 9))
    if sent > LAST:
        return None
    carrier = rng.choice(carriers)
    return invoice.invoice_id, warehouse, carrier, sent.isoformat(), arrived.isoformat() if arrived <= LAST else None


def refund(rng, invoice, date, lines, physical):
    """The row of a refund without its id, decided by the refund policy; None if it was not requested in time."""
    wait = min(int(rng.expovariate(1 / 6)), 44)
    asked = date + days(wait)
    if asked > LAST:
        return None
    partial = len(lines) > 1 and rng.random() < 0.45
    line = rng.choice(lines)
    share = line.unit_price * line.copies / invoice.subtotal if partial else 1
    amount = cents(invoice.total * share)
    decided = asked + days(rng.randint(0, 4))
    late = wait > (30 if physical else 14)
    outcome = "rejected" if late else pick(rng, {"approved": 86, "rejected": 14})
    if decided > LAST or (asked >= dt.date(2025, 12, 18) and rng.random() < 0.6):
        outcome, decided = "pending", None
    reasons = {"DEF": 4, "NRC": 3, "DMG": 3, "OTH": 1} if physical else {"DUP": 4, "ACC": 5, "DEF": 3, "OTH": 1}
    reason = pick(rng, reasons)
    day = decided and decided.isoformat()
    clerk = rng.choice([rep for rep in REPS if EMPLOYEES[rep - 1][4] <= day]) if decided else None
    tax = contained_tax(amount, invoice.country)
    return invoice.invoice_id, asked.isoformat(), day, amount, tax, reason, outcome, clerk


def opinions(invoices, lines, tracks, people, albums):
    """Customer content: the rows of reviews, playlists, their tracks, and subscriptions."""
    rng = stream("opinions")
    album_of = {track.track_id: track.album_id for track in tracks}
    paid = {invoice.invoice_id: invoice for invoice in invoices if invoice.status == "P"}
    mood = {album[0]: rng.gauss(3.9, 0.6) for album in albums}
    reviews, done = [], set()
    for line in lines:
        invoice = paid.get(line.invoice_id)
        key = invoice and (invoice.customer_id, album_of[line.track_id])
        if key and key not in done and rng.random() < 0.052:
            done.add(key)
            said = dt.date.fromisoformat(invoice.day) + days(rng.randint(1, 40))
            stars = max(1, min(5, round(rng.gauss(mood[key[1]], 0.9))))
            words = rng.choice(PRAISE if stars >= 4 else DOUBT if stars == 3 else BLAME)
            if said <= LAST:
                reviews.append((*key, stars, words, said.isoformat(), int(rng.expovariate(0.5))))
    reviews.sort(key=lambda review: review[4])
    reviews = [(number, *review) for number, review in enumerate(reviews, 1)]

    playlists, entries = [], []
    for number in range(1, 61):
        owner = None if number <= 20 else rng.choice(people)
        name = f"{rng.choice(PLAYLISTS)} {rng.choice(NOUNS)}"
        since = dt.date.fromisoformat(owner.signup) if owner else FIRST
        public = int(owner is None or rng.random() < 0.4)
        created = since + days(int((LAST - since).days * rng.random()))
        playlists.append((number, name, owner and owner.customer_id, public, created.isoformat()))
        for position, track in enumerate(rng.sample(range(len(tracks)), rng.randint(8, 26)), 1):
            entries.append((number, track + 1, position))

    subscriptions = []
    for person in people:
        if rng.random() < 0.24:
            plan = pick(rng, {"SOLO": 60, "DUO": 25, "FAM": 15})
            since = max(dt.date.fromisoformat(person.signup), FIRST)
            start = since + days(int((LAST - since).days * rng.random()))
            end = start + days(int(rng.expovariate(1 / 400)) + 30)
            subscriptions.append((len(subscriptions) + 1, person.customer_id, plan, start.isoformat(),
                                  end.isoformat() if end <= LAST else None, PLAN_FEES[plan]))
    return reviews, playlists, entries, subscriptions


def music_store(path):
    """Writes the database; returns its tables as lists of rows."""
    genres, media, labels, artists, albums, tracks = recordings()
    people, habits = customers()
    invoices, lines = orders(people, habits, tracks)
    refunds, shipments, cards = after_the_order(invoices, lines, tracks, people)
    reviews, playlists, entries, subscriptions = opinions(invoices, lines, tracks, people, albums)
    tables = {
        "countries": [row[:5] for row in COUNTRIES],
        "employees": [(n, first, last, title, boss, hired, f"{first}.{last}@store.example".lower(), country)
                      for n, (first, last, title, boss, hired, country) in enumerate(EMPLOYEES, 1)],
        "customers": people, "genres": genres, "media_types": media, "labels": labels, "artists": artists,
        "albums": albums, "tracks": tracks, "promotions": [(n, *row) for n, row in enumerate(PROMOTIONS, 1)],
        "invoices": invoices, "invoice_lines": lines, "refunds": refunds, "shipments": shipments, "gift_cards": cards,
        "reviews": reviews, "playlists": playlists, "playlist_tracks": sorted(entries), "subscriptions": subscriptions,
    }
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA page_size = 4096")
        db.executescript(SCHEMA)
        for name, rows in tables.items():
            db.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(rows[0]))})", rows)
        db.commit()
        db.execute("VACUUM")
    db.close()
    return tables


# --- The data files --------------------------------------------------------------------------------------------------


def web_metrics(path, tables):
    """Daily metrics of the last quarter for four countries; the conversions are the real invoices of those days."""
    rng = stream("web")
    countries = {"US": 1.0, "DE": 0.62, "BR": 0.5, "GB": 0.48}
    volume = {"organic_search": 70, "paid_search": 48, "paid_social": 40, "email": 22, "direct": 36}
    bounce = {"organic_search": 0.44, "paid_search": 0.52, "paid_social": 0.61, "email": 0.47, "direct": 0.36}
    share = {"organic_search": 30, "paid_search": 22, "paid_social": 9, "email": 17, "direct": 22}
    first = dt.date(2025, 10, 1)
    sales = {}
    for invoice in tables["invoices"]:
        if invoice.day >= first.isoformat() and invoice.status != "V" and invoice.country in countries:
            key = (invoice.day, invoice.country, pick(rng, share))
            orders, revenue = sales.get(key, (0, 0.0))
            sales[key] = (orders + 1, revenue + invoice.total)
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["date", "country", "channel", "sessions", "page_views", "bounce_rate", "avg_session_s",
                      "conversions", "revenue_usd"])
        for number in range((LAST - first).days + 1):
            day = first + days(number)
            for country, size in countries.items():
                for channel in CHANNELS:
                    weekend = 1.15 if day.weekday() >= 5 else 1.0
                    orders, revenue = sales.get((day.isoformat(), country, channel), (0, 0.0))
                    expected = volume[channel] * size * weekend * SEASON[day.month - 1]
                    sessions = max(8 + orders, int(expected * rng.uniform(0.75, 1.25)))
                    rate = bounce[channel] + rng.gauss(0, 0.02)
                    if channel == "paid_social":  # the audience was widened for the holiday season
                        rate += 0.09 * number / 91
                    if channel == "email" and day >= dt.date(2025, 11, 10):  # the newsletter got a new design
                        rate -= 0.12
                    bounced = min(round(sessions * rate), sessions - orders)
                    views = bounced + int((sessions - bounced) * rng.uniform(3.2, 5.4))
                    duration = int(rng.uniform(160, 260) * (1.3 - rate))
                    out.writerow([day, country, channel, sessions, views, f"{bounced / sessions:.4f}", duration, orders,
                                  f"{revenue:.2f}"])


def clickstream(path, tables):
    """Events of one week in December 2025, in the order of their time; a session has one or more of them."""
    rng = stream("clicks")
    people, tracks = tables["customers"], tables["tracks"]
    devices = [("mobile", "android"), ("mobile", "ios"), ("desktop", "windows"), ("desktop", "macos"),
               ("tablet", "ios")]
    events = []
    start = dt.datetime(2025, 12, 8)
    session = 0
    while len(events) < 1500:
        session += 1
        moment = start + dt.timedelta(seconds=rng.randrange(7 * 86400))
        person = rng.choice(people) if rng.random() < 0.55 else None
        kind, system = rng.choices(devices, [30, 26, 24, 14, 6])[0]
        common = {
            "session_id": f"s{session:05d}", "customer_id": person and person.customer_id,
            "device": {"type": kind, "os": system},
            "geo": {"country": person.country if person else some_country(rng)[0]},
            "channel": rng.choices(CHANNELS, [30, 22, 20, 10, 18])[0],
        }
        track = rng.choice(tracks)
        steps = [("page_view", {"path": rng.choice(["/", "/new", "/genres", "/gift-cards"])})]
        if rng.random() < 0.6:
            if rng.random() < 0.5:
                steps.append(("search", {"query": track.title.lower(), "results": rng.randint(0, 40)}))
            for _ in range(rng.randint(1, 5)):
                track = rng.choice(tracks)
                steps.append(("page_view", {"path": f"/tracks/{track.track_id}"}))
                if rng.random() < 0.6:
                    steps.append(("preview_play", {"track_id": track.track_id, "played_s": rng.randint(3, 30)}))
            if rng.random() < 0.4:
                cart = {"items": 1, "value_usd": track.unit_price}
                steps.append(("add_to_cart", {"track_id": track.track_id, "cart": cart}))
                if person and rng.random() < 0.5:
                    steps.append(("checkout", {"cart": cart, "payment": rng.choice(["CARD", "WALLET"])}))
        for name, properties in steps:
            stamp = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            events.append({"ts": stamp, "event": name, **common, "properties": properties})
            moment += dt.timedelta(seconds=rng.randint(4, 95))
    events.sort(key=lambda event: event["ts"])
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for number, event in enumerate(events, 1):
            file.write(json.dumps({"event_id": number, **event}, separators=(",", ":")) + "\n")


def exchange_rates(path):
    """Rates of the working days, a random walk that is drawn back to its level: plausible, not real."""
    rng = stream("rates")
    level = {"AUD": 1.5, "BRL": 5.3, "CAD": 1.36, "EUR": 0.92, "GBP": 0.79, "INR": 84.0, "JPY": 146.0, "SEK": 10.5}
    rate = dict(level)
    rows = []
    day = FIRST
    while day <= LAST:
        if day.weekday() < 5:
            for currency in level:
                rate[currency] *= 1 + rng.gauss(0, 0.004) + 0.01 * (level[currency] / rate[currency] - 1)
                rows.append((day, "USD", currency, round(rate[currency], 4)))
        day += days(1)
    table = arrow_table(rows, {"rate_date": pa.date32(), "base_ccy": pa.string(), "quote_ccy": pa.string(),
                               "rate": pa.float64()})
    # Without compression every reader can open it, whatever codecs it was built with.
    parquet.write_table(table, path, compression="none", use_dictionary=["rate_date", "base_ccy", "quote_ccy"],
                        store_schema=False)


def arrow_table(rows, columns):
    return pa.table({name: pa.array([row[n] for row in rows], kind) for n, (name, kind) in enumerate(columns.items())})


def ad_spend(path):
    """Spending per month, channel, country and campaign."""
    rng = stream("ads")
    cost_per_click = {"paid_search": 0.024, "paid_social": 0.018, "affiliate": 0.03, "podcast": 0.08}
    rows = []
    month = FIRST
    while month <= LAST:
        for code, _, _, _, _, weight, _ in COUNTRIES:
            for channel, base in {"paid_search": 0.8, "paid_social": 0.6, "affiliate": 0.25, "podcast": 0.5}.items():
                if channel == "affiliate" and month > dt.date(2024, 6, 1):
                    continue
                if channel == "podcast" and (code not in ("US", "GB") or month.year < 2025):
                    continue
                if weight < 4 and channel != "paid_search":
                    continue
                season = SEASON[month.month - 1]
                campaign = "holiday" if month.month >= 11 else "summer-sale" if month.month == 7 else "always-on"
                spend = cents(base * weight * season * (1 + 0.1 * (month.year - 2023)) * rng.uniform(0.85, 1.15))
                clicks = int(spend / (cost_per_click[channel] * rng.uniform(0.85, 1.15)))
                rows.append((month, channel, code, campaign, clicks * rng.randint(28, 60), clicks, spend))
        month = (month + days(32)).replace(day=1)
    table = arrow_table(rows, {"month": pa.date32(), "channel": pa.string(), "country": pa.string(),
                               "campaign": pa.string(), "impressions": pa.int64(), "clicks": pa.int64(),
                               "spend_usd": pa.float64()})
    feather.write_feather(table, path, compression="uncompressed")


def warehouses(path):
    places = [
        {"code": code, "city": city, "country": country, "region": region, "opened_on": opened,
         "capacity_units": capacity, "carriers": carriers, "location": {"lat": lat, "lon": lon},
         "contact": f"{code.lower()}@store.example"}
        for code, city, country, region, opened, capacity, carriers, lat, lon in WAREHOUSES
    ]
    path.write_text(json.dumps(places, indent=2) + "\n", encoding="utf-8")


def write_all(folder):
    (folder / "databases").mkdir(exist_ok=True)
    (folder / "files").mkdir(exist_ok=True)
    tables = music_store(folder / "databases" / "music_store.sqlite")
    web_metrics(folder / "files" / "web_metrics.csv", tables)
    clickstream(folder / "files" / "clickstream.jsonl", tables)
    exchange_rates(folder / "files" / "exchange_rates.parquet")
    ad_spend(folder / "files" / "ad_spend.arrow")
    warehouses(folder / "files" / "warehouses.json")


# --- Checks -----------------------------------------------------------------------------------------------------------

NOTHING = {  # each of these queries must find no row
    "an invoice whose subtotal is not the sum of its lines": """
        SELECT i.invoice_id FROM invoices i LEFT JOIN invoice_lines l USING (invoice_id) GROUP BY i.invoice_id
        HAVING round(i.subtotal - coalesce(sum(l.unit_price * l.invln_qty), 0), 2) <> 0""",
    "an invoice whose total is not subtotal less discount": """
        SELECT 1 FROM invoices WHERE round(subtotal - disc_amt - total, 2) <> 0""",
    "an invoice with more tax than money": "SELECT 1 FROM invoices WHERE total <= 0 OR tax_amt < 0 OR tax_amt >= total",
    "an invoice before its customer signed up": """
        SELECT 1 FROM invoices JOIN customers USING (customer_id) WHERE invoice_date < signup_date""",
    "a promotion used outside its days": """
        SELECT 1 FROM invoices JOIN promotions USING (promo_id)
        WHERE invoice_date < starts_on OR invoice_date > coalesce(ends_on, '9999-12-31')""",
    "a refund larger than its invoice, or of an unpaid one": """
        SELECT 1 FROM refunds JOIN invoices USING (invoice_id) WHERE amount > total OR stat_cd <> 'P'""",
    "a gift card redeemed by an invoice that was not paid with one": """
        SELECT 1 FROM gift_cards JOIN invoices ON invoice_id = redeemed_invoice_id
        WHERE pay_mthd <> 'GIFT' OR round(face_value - total - balance, 2) <> 0""",
    "a shipment of an order without a physical item": """
        SELECT 1 FROM shipments WHERE invoice_id NOT IN (
            SELECT invoice_id FROM invoice_lines JOIN tracks USING (track_id) JOIN media_types USING (media_type_id)
            WHERE is_physical)""",
    "an approved refund that the policy does not allow": """
        SELECT 1 FROM refunds JOIN invoices USING (invoice_id) WHERE refund_stat = 'approved'
        AND julianday(requested_on) - julianday(invoice_date) >
            CASE WHEN invoice_id IN (SELECT invoice_id FROM shipments) THEN 30 ELSE 14 END""",
}

# The definition in documents/business_rules.md, section "VIP customer", at the reporting date 2025-12-31.
VIP = """
    SELECT customer_id FROM customers JOIN invoices USING (customer_id)
    WHERE cust_seg <> 'STF' AND stat_cd = 'P' AND invoice_date BETWEEN '2025-01-01' AND '2025-12-31'
    GROUP BY customer_id
    HAVING round(sum(total), 2) >= 45.00
        AND count(DISTINCT (CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) >= 3"""


def check_content(folder):
    """Prints the row counts; returns the list of problems."""
    wrong = []
    path = folder / "databases" / "music_store.sqlite"
    db = sqlite3.connect(path)
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
    for table in names:
        print(f"{table:16} {db.execute(f'SELECT count(*) FROM {table}').fetchone()[0]:6} rows")
    wrong += [f"broken foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
    wrong += [f"there is {what}" for what, query in NOTHING.items() if db.execute(query).fetchone()]
    people = db.execute("SELECT count(*) FROM customers").fetchone()[0]
    vips = len(db.execute(VIP).fetchall())
    print(f"VIP customers at 2025-12-31: {vips} of {people} ({vips / people:.1%})")
    if not 0.05 <= vips / people <= 0.10:
        wrong.append("the share of VIP customers is not between 5 and 10 percent")
    if path.stat().st_size > MAX_DATABASE_BYTES:
        wrong.append(f"the database has {path.stat().st_size} bytes")
    known = {table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in names}
    described = json.loads((HERE / "databases" / "music_store.descriptions.json").read_text(encoding="utf-8"))
    wrong += [f"descriptions lack the table {table}" for table in known if table not in described]
    for table, entry in described.items():
        for column in entry.get("columns", {}):
            if column not in known.get(table, ()):
                wrong.append(f"descriptions name {table}.{column}, which does not exist")
    with open(folder / "files" / "web_metrics.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    conversions, revenue = sum(int(row["conversions"]) for row in rows), sum(float(row["revenue_usd"]) for row in rows)
    sold = db.execute("""
        SELECT count(*), round(sum(total), 2) FROM invoices
        WHERE invoice_date >= '2025-10-01' AND stat_cd <> 'V' AND bill_cntry IN ('US', 'DE', 'BR', 'GB')""").fetchone()
    if (conversions, round(revenue, 2)) != sold:
        wrong.append(f"web_metrics has {conversions} conversions of {revenue:.2f}, the invoices {sold}")
    print(f"{'web_metrics':16} {len(rows):6} rows, {conversions} conversions")
    with open(folder / "files" / "clickstream.jsonl", encoding="utf-8") as file:
        print(f"{'clickstream':16} {sum(1 for _ in file):6} rows")
    print(f"{'exchange_rates':16} {parquet.read_table(folder / 'files' / 'exchange_rates.parquet').num_rows:6} rows")
    print(f"{'ad_spend':16} {feather.read_table(folder / 'files' / 'ad_spend.arrow').num_rows:6} rows")
    db.close()
    return wrong


def differences(fresh):
    """The committed files that differ from those in `fresh`."""
    def dump(path):
        db = sqlite3.connect(path)
        text = "\n".join(db.iterdump())
        db.close()
        return text

    readers = {
        "databases/music_store.sqlite": dump,
        "files/exchange_rates.parquet": parquet.read_table,
        "files/ad_spend.arrow": feather.read_table,
        "files/web_metrics.csv": pathlib.Path.read_bytes,
        "files/clickstream.jsonl": pathlib.Path.read_bytes,
        "files/warehouses.json": pathlib.Path.read_bytes,
    }
    return [f"{name} is not what this script makes" for name, read in readers.items()
            if not (HERE / name).exists() or read(HERE / name) != read(fresh / name)]


def main():
    parser = argparse.ArgumentParser(description="Generates the data of the sample catalog.")
    parser.add_argument("--check", action="store_true", help="write nothing; are the committed files what this makes?")
    if parser.parse_args().check:
        with tempfile.TemporaryDirectory() as folder:
            write_all(pathlib.Path(folder))
            wrong = differences(pathlib.Path(folder)) + check_content(pathlib.Path(folder))
    else:
        write_all(HERE)
        wrong = check_content(HERE)
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
