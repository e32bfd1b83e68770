//! The tables of the store, and migrations from earlier versions.

use prospector_state::sqlite::Layout;

/// The application id is `PFct`.
pub(super) const LAYOUT: Layout = Layout { name: "fact store", application: 0x5046_6374, version: 3, upgrade };

/// `apart` is the id of the owner to whom a fact is private, empty if shared; `owner` and `said_by` are the id and the
/// label of its author, empty for the local user.
const FACTS: &str = "
CREATE TABLE IF NOT EXISTS facts (
    key TEXT NOT NULL, scope TEXT NOT NULL, origin TEXT NOT NULL, apart TEXT NOT NULL DEFAULT '',
    term TEXT NOT NULL, definition TEXT NOT NULL, source TEXT NOT NULL, confidence REAL NOT NULL,
    reasoning TEXT NOT NULL, recorded_at TEXT NOT NULL, source_hash TEXT NOT NULL DEFAULT '',
    owner TEXT NOT NULL DEFAULT '', said_by TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (key, scope, origin, apart)
);
CREATE TABLE IF NOT EXISTS unresolved (
    key TEXT NOT NULL, owner TEXT NOT NULL DEFAULT '', question TEXT NOT NULL, times INTEGER NOT NULL,
    last_asked TEXT NOT NULL, first_asked TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (key, owner)
);
";

/// Migrates version 1 to version 2.
const FROM_VERSION_1: &str = "
ALTER TABLE facts ADD COLUMN source_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE unresolved ADD COLUMN first_asked TEXT NOT NULL DEFAULT '';
";

/// SQLite cannot change a primary key: the tables of version 2 are renamed and copied into new ones. Their facts belong
/// to the local user and are shared.
const PUT_ASIDE: &str = "
ALTER TABLE facts RENAME TO facts_before;
ALTER TABLE unresolved RENAME TO unresolved_before;
";

const READ_BACK: &str = "
INSERT INTO facts (key, scope, origin, term, definition, source, confidence, reasoning, recorded_at, source_hash)
    SELECT key, scope, origin, term, definition, source, confidence, reasoning, recorded_at, source_hash FROM facts_before;
INSERT INTO unresolved (key, question, times, last_asked, first_asked)
    SELECT key, question, times, last_asked, first_asked FROM unresolved_before;
DROP TABLE facts_before;
DROP TABLE unresolved_before;
";

/// Returns the statements that migrate from a version; 0 is an empty file.
fn upgrade(version: i64) -> String {
    match version {
        1 => [FROM_VERSION_1, PUT_ASIDE, FACTS, READ_BACK].concat(),
        2 => [PUT_ASIDE, FACTS, READ_BACK].concat(),
        _ => FACTS.to_owned(),
    }
}
