"""Writes the rows of the four small catalogs of `planner bench wordings`: `python3 benches/wordings/generate.py`.

The rows contain what plans fail on: lines and payments of the same header, bridge tables, nullable and composite keys, codes whose
meaning only a description says, periods that end, counts that tie, and texts in another case than people write them in.
"""

import csv
import datetime as dt
import random
from pathlib import Path

HERE = Path(__file__).parent

FIRST = """Amelia Bruno Clara Dario Elif Farid Greta Hugo Ines Jonas Katja Leon Mara Nils Olga Pavel Quentin Rosa Stefan Tilda Umut
Vera Wanda Xenia Yusuf Zoe Aron Berta Cosima Dilan Emre Frieda Gustav Hanna Ilja Jana Kilian Lotte Malte Nora Oskar Paula""".split()
LAST = """Adler Brandt Costa Demir Ebert Fischer Garcia Hansen Ivanov Jansen Keller Lorenz Moretti Novak Ortega Petrov Quandt Richter
Santos Thoma Ulrich Vogel Weber Xu Yilmaz Zimmer Albers Blum Conrad Dietz Engel Frank Gruber Hahn""".split()


def name_people(rng, count):
    """Distinct names."""
    pairs = [f"{first} {last}" for first in FIRST for last in LAST]
    return rng.sample(pairs, count)


def day(text):
    return dt.date.fromisoformat(text)


def pick_day(rng, first, last):
    return day(first) + dt.timedelta(days=rng.randrange((day(last) - day(first)).days + 1))


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return f"{value:.2f}" if isinstance(value, float) else str(value)
    return "'" + str(value).replace("'", "''") + "'"


def write_sql(path, summary, tables):
    """Writes a script of `(CREATE TABLE ..., name, rows)`."""
    parts = [f"-- {summary}\n-- Written by benches/wordings/generate.py.\n"]
    for create, name, rows in tables:
        lines = ",\n".join("  (" + ", ".join(literal(value) for value in row) + ")" for row in rows)
        parts.append(f"{create.strip()}\n\nINSERT INTO {name} VALUES\n{lines};\n")
    path.write_text("\n".join(parts), encoding="utf-8")


def write_csv(path, heads, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        for row in rows:
            writer.writerow(["" if value is None else f"{value:.2f}" if isinstance(value, float) else value for value in row])


def clinic():
    rng = random.Random(11)
    departments = [("CAR", "Cardiology", 2), ("DER", "Dermatology", 1), ("ENT", "Ear, nose and throat", 1), ("NEU", "Neurology", 3),
                   ("ORT", "Orthopaedics", 2), ("PED", "Paediatrics", 1), ("RAD", "Radiology", 0), ("DEN", "Dental care", 3)]
    doctors = []
    for at, name in enumerate(name_people(rng, 30)):
        code = departments[at % 7][0]
        hired = pick_day(rng, "2009-01-01", "2023-10-31")
        left = pick_day(rng, "2025-01-15", "2025-08-31") if at in (12, 19, 27) else None
        doctors.append((101 + at, f"Dr. {name}", code, hired, None if at < 7 else 101 + at % 7, left))
    cities = ["Lübeck", "Kiel", "Hamburg", "Rostock", "Schwerin", "Wismar"]
    insurers = ["AOK", "Techniker", "Barmer", "DAK", "HEK", None]
    patients = []
    for at, name in enumerate(name_people(rng, 90)):
        born = pick_day(rng, "1938-01-01", "2021-12-31")
        patients.append((1001 + at, name, rng.choice("FMFMFMX"), born, rng.choices(cities, [9, 7, 6, 5, 3, 2])[0],
                         rng.choices(insurers, [8, 7, 5, 4, 2, 5])[0], pick_day(rng, "2022-05-01", "2023-12-29")))
    treatments = [("ECG", "Electrocardiogram", "diagnostics", 62.0), ("ECHO", "Echocardiography", "diagnostics", 118.0),
                  ("BP24", "Long-term blood pressure", "diagnostics", 54.0), ("XRAY", "X-ray", "imaging", 71.0),
                  ("MRI", "Magnetic resonance imaging", "imaging", 395.0), ("CT", "Computed tomography", "imaging", 288.0),
                  ("SONO", "Ultrasound", "imaging", 66.0), ("LAB1", "Blood count", "laboratory", 18.5),
                  ("LAB2", "Allergy panel", "laboratory", 84.0), ("LAB3", "Thyroid panel", "laboratory", 39.0),
                  ("VACC", "Vaccination", "prevention", 27.0), ("SKIN", "Skin cancer screening", "prevention", 48.0),
                  ("HEAR", "Hearing test", "diagnostics", 41.0), ("EEG", "Electroencephalogram", "diagnostics", 97.0),
                  ("PHYS", "Physiotherapy session", "therapy", 36.0), ("INJ", "Joint injection", "therapy", 58.0),
                  ("CAST", "Plaster cast", "therapy", 73.0), ("LASER", "Laser therapy", "therapy", 142.0),
                  ("ACU", "Acupuncture", "therapy", 45.0), ("SLEEP", "Sleep laboratory night", "diagnostics", 310.0)]
    offered = {"CAR": ["ECG", "ECHO", "BP24", "LAB1"], "DER": ["SKIN", "LASER", "LAB2"], "ENT": ["HEAR", "LAB2", "SONO"],
               "NEU": ["EEG", "MRI", "LAB3"], "ORT": ["XRAY", "PHYS", "INJ", "CAST"], "PED": ["VACC", "LAB1", "SONO"],
               "RAD": ["XRAY", "MRI", "CT", "SONO"]}
    visits, lines, payments = [], [], []
    for at in range(240):
        doctor = rng.choice(doctors[:28])
        when = pick_day(rng, "2024-01-08", "2025-09-30")
        status = rng.choices("DCN", [80, 12, 8])[0]
        number = 5001 + at
        fee = float(rng.choice([35, 35, 48, 60, 85]))
        referrer = rng.choice([None, None, None] + [one[0] for one in doctors[:9]])
        visits.append((number, rng.choice(patients[:84])[0], doctor[0],
                       f"{when} {rng.randrange(8, 18):02d}:{rng.choice([0, 15, 30, 45]):02d}:00", status, referrer, fee))
        if status != "D":
            continue
        total = fee
        # No visit has the same treatment twice: by treatment, the lines are a bridge that multiplies nothing.
        for line, code in enumerate(rng.sample(offered[doctor[2]], rng.choice([0, 1, 1, 2, 3])), 1):
            price = next(one[3] for one in treatments if one[0] == code)
            quantity = rng.choice([1, 1, 1, 2, 6]) if code == "PHYS" else 1
            lines.append((number, line, code, quantity, price))
            total += quantity * price
        shares = rng.choices([[1.0], [0.8, 0.2], [0.5, 0.5], []], [60, 18, 10, 12])[0]
        for part, share in enumerate(shares):
            method = "insurer" if part == 0 and len(shares) > 1 else rng.choice(["card", "cash", "transfer"])
            payments.append((9001 + len(payments), number, when + dt.timedelta(days=rng.randrange(0, 35)), method,
                             round(total * share, 2)))
    write_sql(HERE / "clinic/clinic.sql", "An outpatient clinic: visits, what was done in them, and how they were paid.", [
        ("""CREATE TABLE departments (
  dept_cd CHAR(3) NOT NULL PRIMARY KEY,
  name VARCHAR(40) NOT NULL,
  floor INTEGER NOT NULL
);""", "departments", departments),
        ("""CREATE TABLE doctors (
  doctor_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  dept_cd CHAR(3) NOT NULL REFERENCES departments (dept_cd),
  hired_on DATE NOT NULL,
  supervisor_id INTEGER REFERENCES doctors (doctor_id),
  left_on DATE
);""", "doctors", doctors),
        ("""CREATE TABLE patients (
  patient_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  sex CHAR(1) NOT NULL CHECK (sex IN ('F', 'M', 'X')),
  born_on DATE NOT NULL,
  city VARCHAR(40) NOT NULL,
  insurer VARCHAR(20),
  registered_on DATE NOT NULL
);""", "patients", patients),
        ("""CREATE TABLE treatments (
  treatment_cd VARCHAR(5) NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  category VARCHAR(20) NOT NULL,
  list_price NUMERIC(8, 2) NOT NULL
);""", "treatments", treatments),
        ("""CREATE TABLE visits (
  visit_id INTEGER NOT NULL PRIMARY KEY,
  patient_id INTEGER NOT NULL REFERENCES patients (patient_id),
  doctor_id INTEGER NOT NULL REFERENCES doctors (doctor_id),
  visit_at DATETIME NOT NULL,
  stat_cd CHAR(1) NOT NULL CHECK (stat_cd IN ('D', 'C', 'N')),
  referrer_id INTEGER REFERENCES doctors (doctor_id),
  fee NUMERIC(8, 2) NOT NULL
);""", "visits", visits),
        ("""CREATE TABLE visit_lines (
  visit_id INTEGER NOT NULL REFERENCES visits (visit_id),
  line_no INTEGER NOT NULL,
  treatment_cd VARCHAR(5) NOT NULL REFERENCES treatments (treatment_cd),
  qty INTEGER NOT NULL,
  price NUMERIC(8, 2) NOT NULL,
  PRIMARY KEY (visit_id, line_no)
);""", "visit_lines", lines),
        ("""CREATE TABLE payments (
  payment_id INTEGER NOT NULL PRIMARY KEY,
  visit_id INTEGER NOT NULL REFERENCES visits (visit_id),
  paid_on DATE NOT NULL,
  method VARCHAR(10) NOT NULL,
  amount NUMERIC(8, 2) NOT NULL
);""", "payments", payments),
    ])


ADJECTIVES = """Quiet Northern Broken Hidden Distant Golden Restless Paper Winter Salt Burning Silent Borrowed Crooked Blue Last Empty Glass
Wandering Iron""".split()
NOUNS = """Harbour Orchard Letters Engines Garden Tides Mirrors Atlas Lanterns Theorem Kitchen Machines Rivers Sparrows Archive
Cities Numbers Mountains Bridges Clocks""".split()


def library():
    rng = random.Random(23)
    branches = [(1, "Central Library", "Altstadt"), (2, "Harbour Branch", "Hafen"), (3, "Westpark", "Westend"),
                (4, "University Branch", "Campus"), (5, "Mobile Library", "Umland")]
    members = []
    for at, name in enumerate(name_people(rng, 80)):
        joined = pick_day(rng, "2018-02-01", "2025-07-15")
        left = pick_day(rng, "2025-07-20", "2025-08-30") if at % 11 == 4 else None
        members.append((at + 1, name, rng.choices(["ADU", "CHI", "STU", "SEN"], [5, 3, 3, 2])[0], joined, left,
                        rng.choice([1, 1, 2, 3, 4, None])))
    countries = ["DE", "FR", "GB", "US", "NG", "JP", "PL", None]
    authors = [(at + 1, name, rng.choice(countries)) for at, name in enumerate(name_people(rng, 45))]
    subjects = ["Novel", "Crime", "Science Fiction", "History", "Cookery", "Children", "Natural Science", "Travel"]
    names = rng.sample([f"{one} {two}" for one in ADJECTIVES for two in NOUNS], 60)
    titles, written, copies = [], [], []
    for at, name in enumerate(names):
        number = 100 + at
        titles.append((number, f"The {name}", rng.choices(["en", "de", "fr", "es"], [5, 6, 2, 1])[0], rng.choice(subjects),
                       None if at % 10 == 7 else rng.randrange(1961, 2025)))
        for author in sorted(rng.sample(range(1, 42), rng.choice([1, 1, 1, 2, 3]))):
            written.append((number, author))
        for copy in range(1, rng.choice([1, 2, 2, 3, 4]) + 1):
            copies.append((number, copy, rng.choice([1, 1, 1, 2, 3, 4]), rng.choices("ALRD", [86, 6, 5, 3])[0],
                           pick_day(rng, "2016-03-01", "2024-02-20"), round(rng.uniform(7, 42), 2)))
    loans = []
    for at in range(280):
        copy = rng.choice(copies[: len(copies) - 9])
        lent = pick_day(rng, "2024-03-01", "2025-08-31")
        due = lent + dt.timedelta(days=rng.choice([21, 21, 28, 7]))
        back = lent + dt.timedelta(days=rng.randrange(2, 60))
        returned = None if back > day("2025-09-10") or rng.random() < 0.04 else back
        late = (returned - due).days if returned and returned > due else 0
        loans.append((7001 + at, rng.randrange(1, 75), copy[0], copy[1], lent, due, returned, round(0.25 * late, 2)))
    write_sql(HERE / "library/library.sql", "A public library: titles with several authors, copies of them, and loans.", [
        ("""CREATE TABLE branches (
  branch_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(40) NOT NULL,
  district VARCHAR(40) NOT NULL
);""", "branches", branches),
        ("""CREATE TABLE members (
  member_id INTEGER NOT NULL PRIMARY KEY,
  full_name VARCHAR(60) NOT NULL,
  cat_cd CHAR(3) NOT NULL CHECK (cat_cd IN ('ADU', 'CHI', 'STU', 'SEN')),
  joined_on DATE NOT NULL,
  left_on DATE,
  home_branch_id INTEGER REFERENCES branches (branch_id)
);""", "members", members),
        ("""CREATE TABLE authors (
  author_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  country CHAR(2)
);""", "authors", authors),
        ("""CREATE TABLE titles (
  title_id INTEGER NOT NULL PRIMARY KEY,
  title VARCHAR(80) NOT NULL,
  lang CHAR(2) NOT NULL,
  subject VARCHAR(20) NOT NULL,
  published_year INTEGER
);""", "titles", titles),
        ("""CREATE TABLE title_authors (
  title_id INTEGER NOT NULL REFERENCES titles (title_id),
  author_id INTEGER NOT NULL REFERENCES authors (author_id),
  PRIMARY KEY (title_id, author_id)
);""", "title_authors", written),
        ("""CREATE TABLE copies (
  title_id INTEGER NOT NULL REFERENCES titles (title_id),
  copy_no INTEGER NOT NULL,
  branch_id INTEGER NOT NULL REFERENCES branches (branch_id),
  state_cd CHAR(1) NOT NULL CHECK (state_cd IN ('A', 'L', 'R', 'D')),
  bought_on DATE NOT NULL,
  price NUMERIC(6, 2) NOT NULL,
  PRIMARY KEY (title_id, copy_no)
);""", "copies", copies),
        ("""CREATE TABLE loans (
  loan_id INTEGER NOT NULL PRIMARY KEY,
  member_id INTEGER NOT NULL REFERENCES members (member_id),
  title_id INTEGER NOT NULL,
  copy_no INTEGER NOT NULL,
  lent_on DATE NOT NULL,
  due_on DATE NOT NULL,
  returned_on DATE,
  fine NUMERIC(6, 2) NOT NULL,
  FOREIGN KEY (title_id, copy_no) REFERENCES copies (title_id, copy_no)
);""", "loans", loans),
    ])


def fleet():
    rng = random.Random(37)
    depots = ["Bremen", "Kassel", "Leipzig", "Ulm"]
    vehicles = []
    for at in range(30):
        kind = rng.choices(["VAN", "TRK", "ART"], [14, 10, 6])[0]
        retired = pick_day(rng, "2025-04-01", "2025-06-20") if at in (3, 17, 25) else None
        vehicles.append((f"V{at + 1:02d}", f"{rng.choice(['HB', 'KS', 'L', 'UL'])}-QX {rng.randrange(1000, 9999)}", kind,
                         rng.choice(depots), {"VAN": 1200, "TRK": 7500, "ART": 24000}[kind] + 100 * rng.randrange(0, 6),
                         pick_day(rng, "2016-02-01", "2024-11-30"), retired))
    drivers = [(f"D{at + 1:02d}", name, rng.choice(depots), rng.choice(["B", "C", "C", "CE"]), pick_day(rng, "2011-01-01", "2024-12-01"))
               for at, name in enumerate(name_people(rng, 30))]
    customers = ["Nordlicht Pharma", "Baumarkt Held", "Kaffee Rösterei Uhl", "Papier Lang", "Elektro Sund", "Gartenbau Roth",
                 "Möbel Weiss", "Feinkost Adria"]
    cities = ["Berlin", "Hannover", "Erfurt", "Nürnberg", "Münster", "Augsburg", "Halle", "Göttingen", "Dresden"]
    trips, stops = [], []
    for at in range(140):
        vehicle = rng.choice(vehicles[:28])
        when = dt.datetime.combine(pick_day(rng, "2025-01-06", "2025-06-27"), dt.time(rng.randrange(4, 12), rng.choice([0, 15, 30, 45])))
        status = rng.choices(["F", "A", "P"], [86, 8, 6])[0]
        count = rng.choice([1, 1, 2, 2, 3, 4]) if status == "F" else rng.choice([0, 1, 2])
        ended = when + dt.timedelta(minutes=90 + 75 * count + rng.randrange(0, 120)) if status != "P" else None
        number = 4001 + at
        driver = None if rng.random() < 0.07 else rng.choice(drivers[:27])[0]
        trips.append((number, vehicle[0], driver, when.isoformat(sep=" "), ended.isoformat(sep=" ") if ended else None,
                      round(rng.uniform(38, 612), 1) * 1.0 if status == "F" else 0.0, status))
        for stop in range(1, count + 1):
            arrived = when + dt.timedelta(minutes=75 * stop + rng.randrange(0, 30))
            stops.append((number, stop, rng.choice(customers), rng.choice(cities), rng.randrange(1, 60),
                          arrived.isoformat(sep=" ") if status == "F" and rng.random() > 0.05 else None))
    refuels = []
    for at in range(170):
        litres = round(rng.uniform(32, 410), 1)
        refuels.append((f"R{at + 1:03d}", rng.choice(vehicles[:29])[0], pick_day(rng, "2025-01-06", "2025-06-30"), litres * 1.0,
                        round(litres * rng.uniform(1.49, 1.83), 2)))
    reasons = ["brakes", "tyres", "engine", "bodywork", "inspection", None]
    repairs = [(f"W{at + 1:03d}", rng.choice(vehicles[:24])[0], pick_day(rng, "2025-01-10", "2025-06-25"),
                rng.choice(["Kfz Braun", "Truck Service Mitte", "Meisterwerk"]), round(rng.uniform(80, 2900), 2),
                rng.choices(reasons, [5, 6, 4, 3, 5, 2])[0]) for at in range(60)]
    folder = HERE / "fleet"
    write_csv(folder / "vehicles.csv", ["vehicle_id", "plate", "kind", "depot", "capacity_kg", "bought_on", "retired_on"], vehicles)
    write_csv(folder / "drivers.csv", ["driver_id", "name", "depot", "licence", "hired_on"], drivers)
    write_csv(folder / "trips.csv", ["trip_id", "vehicle_id", "driver_id", "started_at", "ended_at", "km", "status"], trips)
    write_csv(folder / "stops.csv", ["trip_id", "stop_no", "customer", "city", "parcels", "arrived_at"], stops)
    write_csv(folder / "refuels.csv", ["refuel_id", "vehicle_id", "day", "litres", "cost_eur"], refuels)
    write_csv(folder / "repairs.csv", ["repair_id", "vehicle_id", "day", "workshop", "cost_eur", "reason"], repairs)


def energy():
    rng = random.Random(53)
    places = [("Town Hall", "Oldenburg", "office"), ("Primary School North", "Oldenburg", "school"), ("Swimming Pool", "Emden", "sports"),
              ("Fire Station", "Emden", "safety"), ("Museum", "Oldenburg", "culture"), ("Sports Hall", "Leer", "sports"),
              ("Grammar School", "Leer", "school"), ("City Library", "Oldenburg", "culture"), ("Depot East", "Emden", "depot"),
              ("Youth Centre", "Leer", "culture"), ("Nursery Sunflower", "Oldenburg", "school"), ("Water Works", "Emden", "depot")]
    regions = {"Oldenburg": "south", "Emden": "coast", "Leer": "coast"}
    sites = [(f"S{at + 1:02d}", name, city, regions[city], kind, rng.randrange(240, 5200)) for at, (name, city, kind) in enumerate(places)]
    meters = []
    for at, site in enumerate(sites):
        for medium in ["EL", "GA", "WA"] if at % 3 == 0 else ["EL", "GA"] if at % 3 == 1 else ["EL", "WA"]:
            removed = day("2025-08-31") if (at, medium) in ((4, "GA"), (9, "EL")) else None
            meters.append((f"M{len(meters) + 1:02d}", site[0], medium, "kWh" if medium != "WA" else "m3",
                           pick_day(rng, "2012-01-01", "2024-09-30"), removed))
    readings = []
    base = {"EL": 5200, "GA": 9100, "WA": 140}
    for meter in meters:
        factor = rng.uniform(0.4, 2.6)
        for month in range(1, 11):
            if meter[5] and month > 8:
                continue
            season = 1.5 + abs(6.5 - month) / 9 if meter[2] == "GA" else 1.0
            readings.append((meter[0], dt.date(2025, month, 1), round(base[meter[2]] * factor * season * rng.uniform(0.8, 1.2), 1) * 1.0,
                             "true" if rng.random() < 0.09 else "false"))
    tariffs = [("EL", day("2024-01-01"), day("2025-06-30"), 0.31), ("EL", day("2025-07-01"), None, 0.34),
               ("GA", day("2024-01-01"), day("2025-03-31"), 0.11), ("GA", day("2025-04-01"), None, 0.09),
               ("WA", day("2023-01-01"), None, 2.05)]
    bills = []
    for site in sites:
        for medium in sorted({meter[2] for meter in meters if meter[1] == site[0]}):
            for month in range(1, 11):
                used = sum(row[2] for row in readings for meter in meters
                           if row[0] == meter[0] and meter[1] == site[0] and meter[2] == medium and row[1].month == month)
                price = next(row[3] for row in tariffs if row[0] == medium and row[1] <= dt.date(2025, month, 1)
                             and (row[2] is None or row[2] >= dt.date(2025, month, 1)))
                state = rng.choices(["paid", "open", "disputed"], [84, 11, 5])[0]
                bills.append((f"B{len(bills) + 1:04d}", site[0], medium, dt.date(2025, month, 1), round(used * price, 2), state,
                              dt.date(2025, month, 1) + dt.timedelta(days=rng.randrange(32, 70)) if state == "paid" else None))
    causes = ["storm", "maintenance", "cable damage", None]
    outages = [(f"O{at + 1:02d}", rng.choice(sites[:10])[0],
                dt.datetime.combine(pick_day(rng, "2025-01-03", "2025-11-20"), dt.time(rng.randrange(0, 24), rng.randrange(0, 60))).isoformat(sep=" "),
                rng.choice([5, 10, 15, 20, 30, 45, 60, 90, 120, 240]), rng.choices(causes, [5, 6, 3, 3])[0]) for at in range(40)]
    folder = HERE / "energy"
    write_csv(folder / "sites.csv", ["site_id", "name", "city", "region", "kind", "area_m2"], sites)
    write_csv(folder / "meters.csv", ["meter_id", "site_id", "medium", "unit", "installed_on", "removed_on"], meters)
    write_csv(folder / "readings.csv", ["meter_id", "month", "consumption", "is_estimated"], readings)
    write_csv(folder / "tariffs.csv", ["medium", "valid_from", "valid_to", "price_eur"], tariffs)
    write_csv(folder / "bills.csv", ["bill_no", "site_id", "medium", "month", "amount_eur", "state", "paid_on"], bills)
    write_csv(folder / "outages.csv", ["outage_id", "site_id", "started_at", "minutes", "cause"], outages)


for write in (clinic, library, fleet, energy):
    write()
