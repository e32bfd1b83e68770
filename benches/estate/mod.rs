//! An estate of any size to measure on: databases of fifty tables, the same at every run.
//!
//! The words are those of real schemas and are drawn unevenly, as they are there: an `orders` table stands in many
//! databases, a `telescope` in few. What it is not: it has no spelling mistakes, no abbreviations and no empty databases.

#![allow(dead_code, reason = "each bench uses its own part of it")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::Index;
use prospector_search::{StaticTable, embed::Embedder};

/// How many tables a database has.
const TABLES: usize = 50;

const DOMAINS: &str = "retail banking insurance logistics hospital pharmacy airline railway hotel restaurant school \
university library museum theatre cinema music football athletics betting telecom energy water gas mining forestry \
agriculture fishery dairy bakery brewery winery fashion furniture automotive shipyard aerospace robotics semiconductor \
chemistry laboratory genomics astronomy meteorology seismology cartography census election parliament court police prison \
customs tax treasury pension payroll recruiting training consulting advertising newspaper broadcasting streaming gaming \
publishing printing construction housing realestate elevator security cleaning recycling charity church embassy tourism \
camping skiing sailing cycling parking tolling courier postal warehouse auction";

const ENTITIES: &str = "customer order invoice payment product supplier employee account contract shipment address \
category price discount refund delivery warehouse inventory contact department project task ticket user session device \
event booking appointment patient doctor diagnosis prescription treatment claim policy premium loan deposit card \
transaction transfer branch student course exam grade teacher lecture enrolment book author publisher loan_request track \
album artist playlist film actor director screening seat match player team stadium season league coach transfer_fee \
flight aircraft airport passenger crew baggage route train station platform timetable vehicle driver garage repair part \
sensor measurement reading alarm meter tariff consumption outage well turbine panel battery crop field harvest animal \
keeper enclosure species sample experiment instrument telescope observation star earthquake station_log forecast map \
parcel owner building permit inspection tenant lease vote candidate party district verdict judge lawyer inmate officer \
donation donor member visit exhibit painting sculptor concert guest room menu dish recipe ingredient reservation voucher \
campaign click impression subscriber episode channel article comment translation machine shift defect batch mould robot";

const ASPECTS: &str =
    "\u{20} history line status detail note type log summary archive limit rule target snapshot review";

const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("name", "VARCHAR(80)", "what it is called"),
    ("code", "CHAR(8)", "short code, unique within the company"),
    ("created_at", "TIMESTAMP", "when it was entered"),
    ("updated_at", "TIMESTAMP", "when it was last changed"),
    ("status", "VARCHAR(16)", "open, active, closed or cancelled"),
    ("amount", "DECIMAL(12,2)", "total in the currency of the account"),
    ("currency", "CHAR(3)", "ISO 4217 code of the currency"),
    ("quantity", "INTEGER", "how many pieces"),
    ("unit_price", "DECIMAL(10,2)", "price of one piece before tax"),
    ("tax_rate", "DECIMAL(4,2)", "value added tax in percent"),
    ("country", "CHAR(2)", "ISO 3166 code of the country"),
    ("city", "VARCHAR(60)", "town or city"),
    ("postal_code", "VARCHAR(12)", "zip code"),
    ("email", "VARCHAR(120)", "electronic mail address"),
    ("phone", "VARCHAR(30)", "telephone with the country prefix"),
    ("birth_date", "DATE", "day of birth"),
    ("gender", "CHAR(1)", "f, m or x"),
    ("height_cm", "INTEGER", "height in centimetres"),
    ("weight_kg", "DECIMAL(6,2)", "weight in kilograms"),
    ("latitude", "DOUBLE PRECISION", "degrees north of the equator"),
    ("longitude", "DOUBLE PRECISION", "degrees east of Greenwich"),
    ("temperature", "DOUBLE PRECISION", "degrees Celsius"),
    ("pressure", "DOUBLE PRECISION", "hectopascal at sea level"),
    ("voltage", "DOUBLE PRECISION", "volts at the terminal"),
    ("duration_ms", "BIGINT", "length in milliseconds"),
    ("started_at", "TIMESTAMP", "when it began"),
    ("ended_at", "TIMESTAMP", "when it was over, empty while it goes on"),
    ("valid_from", "DATE", "first day on which it counts"),
    ("valid_until", "DATE", "last day on which it counts"),
    ("priority", "SMALLINT", "1 is the most urgent"),
    ("score", "DOUBLE PRECISION", "points reached, higher is better"),
    ("rank", "INTEGER", "place in the list, the winner is 1"),
    ("capacity", "INTEGER", "how many fit in at most"),
    ("occupied", "INTEGER", "how many places are taken"),
    ("comment", "TEXT", "free remarks of the person who entered it"),
    ("language", "CHAR(2)", "language of the text"),
    ("version", "INTEGER", "counts the changes"),
    ("is_deleted", "BOOLEAN", "whether it was removed"),
    ("approved_by", "INTEGER", "the employee who signed it"),
    ("reason", "VARCHAR(200)", "why it was done"),
    ("channel", "VARCHAR(20)", "web, phone, shop or partner"),
    ("serial_number", "VARCHAR(40)", "number engraved by the maker"),
    ("manufacturer", "VARCHAR(80)", "the company that made it"),
    ("model_year", "SMALLINT", "year of the model"),
    ("distance_km", "DOUBLE PRECISION", "how far, in kilometres"),
    ("speed", "DOUBLE PRECISION", "kilometres an hour"),
    ("interest_rate", "DECIMAL(5,3)", "percent a year"),
    ("balance", "DECIMAL(14,2)", "what is left at the end of the day"),
];

const PURPOSES: &[&str] = &[
    "kept for the yearly audit",
    "filled every night from the operative system",
    "the base of the monthly report to the board",
    "entered by hand at the counter",
    "used to forecast the demand of the next quarter",
    "what the complaints department works on",
    "read by the mobile application",
    "the source of the figures on the dashboard",
];

/// Numbers that look drawn by lot and are the same each time (Steele, Lea and Flood, 2014: SplitMix64).
struct Lot(u64);

impl Lot {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// The first are drawn far more often than the last.
    fn uneven(&mut self, end: usize) -> usize {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        ((share * share * end as f64) as usize).min(end - 1)
    }
}

/// A table of the estate.
pub(crate) struct Table {
    pub(crate) database: String,
    pub(crate) domain: &'static str,
    pub(crate) name: String,
    pub(crate) entity: &'static str,
    pub(crate) description: String,
    /// Name, type, description.
    pub(crate) columns: Vec<(String, &'static str, &'static str)>,
}

impl Table {
    pub(crate) fn id(&self) -> String {
        format!("{}.{}", self.database, self.name)
    }

    /// As the schema crate renders it.
    pub(crate) fn record(&self) -> Record {
        let lines: Vec<String> =
            self.columns.iter().map(|(name, kind, about)| format!("{name} {kind} {about}")).collect();
        Record {
            parent: self.database.clone(),
            aliases: vec![self.name.clone()],
            description: self.description.clone(),
            body: lines.join("\n"),
            ..Record::new(Kind::Table, self.id(), self.name.clone())
        }
    }

    fn sql(&self) -> String {
        let columns: Vec<String> =
            self.columns.iter().map(|(name, kind, about)| format!("  {name} {kind} COMMENT '{about}'")).collect();
        format!("CREATE TABLE {} (\n{}\n) COMMENT '{}';\n\n", self.name, columns.join(",\n"), self.description)
    }
}

/// The first `count` tables.
pub(crate) fn tables(count: usize) -> Vec<Table> {
    let domains: Vec<&str> = DOMAINS.split_whitespace().collect();
    let entities: Vec<&str> = ENTITIES.split_whitespace().collect();
    let aspects: Vec<&str> = ASPECTS.split(' ').map(str::trim).collect();
    let mut lot = Lot(1);
    let mut all: Vec<Table> = Vec::with_capacity(count);
    for number in 0..count.div_ceil(TABLES) {
        let domain = domains[number % domains.len()];
        let database = format!("{domain}_{:03}", number / domains.len());
        let mut taken = std::collections::HashSet::new();
        while taken.len() < TABLES && all.len() < count {
            let entity = entities[lot.uneven(entities.len())];
            let aspect = aspects[lot.uneven(aspects.len())];
            let name = if aspect.is_empty() { format!("{entity}s") } else { format!("{entity}_{aspect}") };
            if !taken.insert(name.clone()) {
                continue;
            }
            let purpose = PURPOSES[lot.below(PURPOSES.len())];
            let spoken = entity.replace('_', " ");
            let description = match aspect {
                "" => format!("One row for each {spoken} of the {domain}; {purpose}."),
                aspect => format!("The {aspect} of each {spoken} of the {domain}; {purpose}."),
            };
            let other = entities[lot.uneven(entities.len())];
            let mut columns = vec![
                (format!("{entity}_id"), "INTEGER", "the number that identifies it"),
                (format!("{other}_id"), "INTEGER", "what it belongs to"),
            ];
            for _ in 0..4 + lot.below(9) {
                let (name, kind, about) = ATTRIBUTES[lot.uneven(ATTRIBUTES.len())];
                if columns.iter().all(|(known, ..)| known != name) {
                    columns.push((name.to_owned(), kind, about));
                }
            }
            all.push(Table { database: database.clone(), domain, name, entity, description, columns });
        }
    }
    all
}

/// The records of the first `count` tables.
pub(crate) fn records(count: usize) -> Vec<Record> {
    tables(count).iter().map(Table::record).collect()
}

/// Questions that some of the tables answer: two of five words, two of ten, one of twenty.
pub(crate) fn questions(tables: &[Table], count: usize) -> Vec<String> {
    let mut lot = Lot(2);
    let mut ask = |at: usize| {
        let table = &tables[lot.below(tables.len())];
        let (_, _, about) = table.columns[2 + lot.below(table.columns.len() - 2)];
        let (entity, domain) = (table.entity.replace('_', " "), table.domain);
        match at % 5 {
            0 => format!("{entity} {about}"),
            1 => format!("which {domain} tables have the {entity}"),
            2 => format!("What is the {about} of each {entity} in the {domain} last year?"),
            3 => format!("List every {entity} of the {domain} with {about}, newest first"),
            _ => format!(
                "For each {domain} compare the number of {entity} records with the {about} of the previous quarter and \
                 explain which of them changed the most since the beginning of the year"
            ),
        }
    };
    (0..count).map(&mut ask).collect()
}

/// The index in a folder, with the shipped embedder.
pub(crate) fn index(folder: &Path) -> Index {
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::shipped().expect("the shipped table"));
    Index::open(folder, Some(embedder)).expect("a folder")
}

/// Writes the estate as a catalog of SQL files, and says where the catalog file is.
pub(crate) fn write(folder: &Path, tables: &[Table]) -> std::io::Result<PathBuf> {
    let databases = folder.join("databases");
    std::fs::create_dir_all(&databases)?;
    for of_one in tables.chunk_by(|a, b| a.database == b.database) {
        let text: String = of_one.iter().map(Table::sql).collect();
        std::fs::write(databases.join(format!("{}.sql", of_one[0].database)), text)?;
    }
    let catalog = folder.join("catalog.yaml");
    std::fs::write(&catalog, "databases:\n- path: databases/*.sql\n")?;
    Ok(catalog)
}
