//! Query warnings: evidence in the data that a query runs but does not compute what it appears to.
//!
//! A filter on a value in another spelling, a join whose keys differ by a space, or a sum over rows that a join repeats returns
//! a plausible answer. Each suspicion is tested against the rows with small queries, which pass the same guard as the caller's.
//! They are limited in number, rows and time, and a failed one reports nothing. Sources that charge for what a query reads are
//! not asked.

mod affected;
mod cells;
mod code;
mod dates;
mod filters;
mod joins;
mod numbers;
mod periods;
mod probe;
mod repeats;
mod result;
mod select;
mod similarity;
mod ties;
mod types;

use prospector_connect::rows::Rows;
use prospector_core::mark::clean;
use prospector_core::tool::finding::RowsWarning;

use crate::{Dialect, Engine};
use affected::{Statement, Suspect};
pub use code::{QueryWarning, WarningCode};
use probe::Probe;
use select::Part;

/// The maximum number of warnings about one query.
const MAX_WARNINGS: usize = 5;

/// The maximum length of a message in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// The maximum length of a suggestion in characters.
const MAX_SUGGESTION_CHARS: usize = 200;

/// The suggestion in place of values of a column with personal data.
const PERSONAL: &str = "similar values are not shown: the column is marked as personal data";

/// The examined query, and its warnings.
struct Case<'a> {
    probe: Probe<'a>,
    statement: Statement<'a>,
    parts: &'a [Part<'a>],
    dialect: Dialect,
    /// Whether the answer is empty, has a column of only zeros or nulls, or is not known yet.
    is_empty: bool,
    /// Whether the answer has more rows than are shown, or is not known yet.
    is_long: bool,
    /// Whether it reads a table with personal data.
    is_personal: bool,
    /// Comparisons with a constant result, as written; filters on them are not examined further.
    constant: Vec<String>,
    found: Vec<QueryWarning>,
}

impl Case<'_> {
    /// Adds a warning, unless the same was already reported.
    fn report(&mut self, warning: Option<QueryWarning>) {
        let Some(mut warning) = warning else { return };
        warning.message = clean(&warning.message, MAX_MESSAGE_CHARS);
        warning.suggestion = warning.suggestion.map(|text| clean(&text, MAX_SUGGESTION_CHARS));
        let is_same = |other: &&mut QueryWarning| {
            (other.code, &other.message, &other.suggestion) == (warning.code, &warning.message, &warning.suggestion)
        };
        if let Some(same) = self.found.iter_mut().find(is_same) {
            same.extend(warning.columns);
        } else if self.found.len() < MAX_WARNINGS {
            self.found.push(warning);
        } else if let Some(last) = self.found.last_mut() {
            // The columns and rows of warnings that are not listed are unknown to the caller.
            last.columns.clear();
            last.last_rows = 0;
        }
    }

    /// Adds a warning about an expression, as written.
    fn report_about(&mut self, warning: Option<QueryWarning>, written: &str) {
        let warning = warning.map(|warning| warning.about(self.columns_with([written.to_owned()])));
        self.report(warning);
    }

    /// Returns the columns of the result that depend on these expressions, as written; empty if all rows do.
    fn columns_with(&self, expressions: impl IntoIterator<Item = String>) -> Vec<String> {
        // The expressions of a flattened SELECT are not those of the statement.
        match self.parts.iter().any(|part| part.is_merged) {
            true => Vec::new(),
            false => self.statement.columns_with(&Suspect::Expressions(&expressions.into_iter().collect())),
        }
    }
}

impl Engine {
    /// Returns the warnings about a query, at most five; none if the query cannot be planned. With the rows of its answer, only
    /// causes that can explain these rows are tested; without them, all causes.
    ///
    /// ```
    /// # use prospector_connect::source::{Source as Place, SourceKind};
    /// # use prospector_engine::query::WarningCode;
    /// # use prospector_engine::{Engine, Source};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("customers.csv");
    /// std::fs::write(&path, "id,city\n1,Oslo\n2,Bergen\n")?;
    /// # let connector = prospector_connect::open(&Place::files(SourceKind::Csv, vec![path]))?;
    /// # let (tables, _) = connector.describe().await?;
    /// # let engine = Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
    /// let warnings = engine.warnings("SELECT id FROM shop.customers WHERE city = 'Olso'", None, None).await;
    /// assert_eq!(warnings[0].code, WarningCode::UnknownValue);
    /// assert_eq!(warnings[0].to_string(), "no value 'Olso' in `customers.city`; nearest: 'Oslo'");
    /// # Ok(()) }
    /// ```
    pub async fn warnings(&self, sql: &str, database: Option<&str>, rows: Option<&Rows>) -> Vec<QueryWarning> {
        let Ok(plan) = self.plan(sql, database).await else { return Vec::new() };
        let dialect = plan.dialect();
        if dialect == Dialect::Bigquery {
            return Vec::new();
        }
        let parts = select::parts(&plan);
        let mut case = Case {
            probe: Probe::new(self, database),
            statement: Statement::new(&plan, rows.map(|rows| rows.columns.as_slice())),
            parts: &parts,
            dialect,
            is_empty: rows.is_none_or(result::is_empty),
            is_long: rows.is_none_or(|rows| rows.has_more || rows.rows.len() > 1),
            is_personal: plan.tables().iter().any(|table| table.columns.iter().any(|column| column.is_personal)),
            constant: Vec::new(),
            found: Vec::new(),
        };
        cells::examine(&mut case, &plan, rows);
        types::examine(&mut case).await;
        periods::examine(&mut case).await;
        filters::examine(&mut case).await;
        dates::examine(&mut case).await;
        joins::examine(&mut case).await;
        repeats::examine(&mut case).await;
        numbers::examine(&mut case).await;
        if let Some(rows) = rows {
            result::examine(&mut case, rows);
        }
        ties::examine(&mut case, plan.query(), rows).await;
        case.found
    }

    /// Returns the warnings about an answer, as part of it.
    pub(crate) async fn rows_warnings(&self, sql: &str, database: Option<&str>, rows: &Rows) -> Vec<RowsWarning> {
        self.warnings(sql, database, Some(rows)).await.into_iter().map(rows_warning).collect()
    }

    /// Returns the warnings about cells of files, such as those that are NULL because of their type: unlike the others, they
    /// depend on the data alone, and also concern queries that a person has approved.
    pub async fn cell_warnings(&self, sql: &str, database: Option<&str>, rows: &Rows) -> Vec<RowsWarning> {
        let Ok(plan) = self.plan(sql, database).await else { return Vec::new() };
        if plan.tables().iter().all(|table| table.issues.is_empty()) {
            return Vec::new();
        }
        let warnings = self.warnings(sql, database, Some(rows)).await.into_iter();
        warnings.filter(|warning| warning.code == WarningCode::InvalidCells).map(rows_warning).collect()
    }

    /// Returns the warnings as texts, as tools show them.
    pub(crate) async fn warning_texts(&self, sql: &str, database: Option<&str>, rows: Option<&Rows>) -> Vec<String> {
        self.warnings(sql, database, rows).await.iter().map(ToString::to_string).collect()
    }
}

/// Returns a warning about an answer.
fn rows_warning(warning: QueryWarning) -> RowsWarning {
    let (message, last_rows) = (warning.to_string(), warning.last_rows);
    RowsWarning { message, columns: warning.columns, last_rows }
}
