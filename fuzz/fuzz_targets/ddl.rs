//! Any text as a script of SQL: nothing panics, and each table and column has a name.
//!
//! `cargo +nightly fuzz run ddl fuzz/corpus/ddl fuzz/seeds/ddl -- -dict=fuzz/dictionaries/sql.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]
#![allow(dead_code, unused_imports, reason = "of the files that are taken in, not everything is used")]

use libfuzzer_sys::fuzz_target;
use prospector_core::Problem;

#[path = "../../crates/connect/src/keys.rs"]
mod keys;
#[path = "../../crates/connect/src/model.rs"]
mod model;
#[path = "../../crates/connect/src/ddl/parse.rs"]
mod parse;
#[path = "../../crates/connect/src/ddl/read.rs"]
mod read;
#[path = "../../crates/connect/src/ddl/salvage.rs"]
mod salvage;
#[path = "../../crates/connect/src/shown.rs"]
mod shown;
#[path = "../../crates/connect/src/ddl/split.rs"]
mod split;
#[path = "../../crates/connect/src/ddl/view.rs"]
mod view;

pub use model::{Column, ForeignKey, Table};

fuzz_target!(|data: &[u8]| {
    let script = String::from_utf8_lossy(data);
    let mut schema = read::Schema::default();
    let lines = script.lines().count().max(1);
    for statement in split::statements(&script) {
        assert!(statement.line <= lines + 1);
        let Some(meaning) = parse::meaning(statement.text) else { continue };
        match parse::parse(statement.text, meaning) {
            Ok(parsed) => parsed.statements.into_iter().for_each(|statement| schema.add(statement, "x.sql")),
            Err(failure) => schema.note(Problem::error("x.sql", failure.reason)),
        }
    }
    let (tables, _) = schema.finish("x.sql");
    for table in &tables {
        assert!(table.columns.iter().all(|column| column.name.len() <= script.len() * 3));
    }
});
