//! Any text as a statement, in every dialect: nothing panics, and what is let through begins like a query.
//!
//! `cargo +nightly fuzz run sql_guard fuzz/corpus/sql_guard fuzz/seeds/sql_guard -- -dict=fuzz/dictionaries/sql.dict -max_total_time=600`
//!
//! That what is sent is judged to be the same query once more is a part of the guard, and `differential.rs` of the engine's
//! tests asks the engines themselves.

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_connect::sql::{Dialect, parse_text};
use prospector_engine::check;
use sqlparser::ast::Statement;

fuzz_target!(|data: &[u8]| {
    let sql = String::from_utf8_lossy(data);
    for dialect in Dialect::ALL {
        if check(dialect, &sql).is_err() {
            continue;
        }
        let statements = parse_text(dialect.grammar(), &sql);
        let is_query = matches!(statements.as_deref(), Ok([Statement::Query(_)]));
        assert!(is_query, "{dialect:?} lets {sql:?} through, which is {statements:?}");
    }
});
