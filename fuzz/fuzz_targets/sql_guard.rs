//! Any text as a statement, in every dialect: nothing panics, and what is let through is one query that begins like one.
//!
//! `cargo +nightly fuzz run sql_guard fuzz/corpus/sql_guard fuzz/seeds/sql_guard -- -dict=fuzz/dictionaries/sql.dict -max_total_time=600`

#![no_main]
#![allow(dead_code, unused_imports, reason = "of the files that are taken in, not everything is used")]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/engine/src/dialect.rs"]
mod dialect;
#[path = "../../crates/engine/src/failure.rs"]
mod failure;
#[path = "../../crates/engine/src/functions.rs"]
mod functions;
#[path = "../../crates/engine/src/guard.rs"]
mod guard;
#[path = "../../crates/engine/src/typo.rs"]
mod typo;

pub use dialect::Dialect;
pub use failure::Failure;

fuzz_target!(|data: &[u8]| {
    let sql = String::from_utf8_lossy(data);
    for dialect in Dialect::ALL {
        let Ok(checked) = guard::examine(dialect, &sql) else { continue };
        // What is cut out lies in the text, in order, at the borders of characters.
        let mut end = 0;
        let mut sent = String::new();
        for (from, to) in &checked.cuts {
            assert!(*from >= end && to >= from);
            sent.push_str(&sql[end..*from]);
            sent.push(' ');
            end = *to;
        }
        sent.push_str(&sql[end..]);
        let word: String = sent.trim_start_matches(|c: char| c.is_whitespace() || c == '(').to_ascii_uppercase();
        let begins = ["SELECT", "WITH", "VALUES", "TABLE", "FROM"].iter().any(|start| word.starts_with(start));
        assert!(begins, "{dialect:?} lets {sent:?} through");
        // What is sent is let through again: no comment hides in it.
        let again = guard::examine(dialect, &sent);
        assert!(again.is_ok_and(|again| again.cuts.is_empty()), "{dialect:?} refuses {sent:?} of {sql:?}");
    }
});
