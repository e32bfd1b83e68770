//! Statements in words, derived from the syntax tree: the same statement always gives the same sentence.
//!
//! Names are those of the catalog, as far as [`Labels`] knows them. Syntax without words is shown as SQL between backticks, so
//! that no part of a statement is omitted. Each module covers one clause: [`select`] the SELECT, [`from`] the tables and joins,
//! [`condition`] and [`existence`] the conditions, [`expression`], [`function`], [`aggregate`] and [`window`] the values,
//! [`period`] the dates.

mod aggregate;
mod condition;
mod existence;
mod expression;
mod from;
mod function;
mod labels;
mod names;
mod period;
mod phrase;
mod query;
mod select;
mod window;

use sqlparser::ast::Select;

use crate::plan::Plan;
use crate::resolution::{Resolution, resolve_names};
use crate::{Dialect, Engine, Failure};
pub use labels::Labels;
pub use period::name_period;
pub(crate) use period::parse_day;

/// The maximum length of an explanation in characters.
const MAX_CHARS: usize = 1_500;

/// The maximum depth of explained subqueries; deeper ones are shown as SQL.
const MAX_QUERIES: usize = 8;

/// The maximum depth of explained expressions; deeper ones are shown as SQL.
const MAX_DEPTH: usize = 32;

impl Engine {
    /// Explains a statement in words: what is computed, over which rows, under which conditions, grouped and ordered by what.
    /// Nothing is run, and no source is asked. The text has at most about 1,500 characters; a longer one ends with `…`.
    ///
    /// ```
    /// # use prospector_connect::source::{Source as Place, SourceKind};
    /// # use prospector_engine::{Engine, Source};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("orders.csv");
    /// std::fs::write(&path, "id,total,country\n1,9.50,NO\n")?;
    /// # let connector = prospector_connect::open(&Place::files(SourceKind::Csv, vec![path]))?;
    /// # let (tables, _) = connector.describe().await?;
    /// # let engine = Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
    /// let sql = "SELECT country, SUM(total) FROM shop.orders WHERE id > 5 GROUP BY country ORDER BY 2 DESC LIMIT 10";
    /// assert_eq!(
    ///     engine.explain(sql, None, &()).await?,
    ///     "sum of orders.total where id is more than 5, grouped by country, ordered by sum of total descending, first 10"
    /// );
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The same as for [`Engine::inspect`].
    pub async fn explain(&self, sql: &str, database: Option<&str>, labels: &dyn Labels) -> Result<String, Failure> {
        let plan = self.plan(sql, database).await?;
        Ok(explain(&plan, labels))
    }
}

fn explain(plan: &Plan, labels: &dyn Labels) -> String {
    let names = resolve_names(plan);
    let mut writer = Writer {
        names: &names,
        labels,
        dialect: plan.dialect(),
        has_several_databases: names.has_several_databases(),
        frames: Vec::new(),
        queries: 0,
        depth: 0,
    };
    phrase::shorten(writer.query(plan.query(), false), MAX_CHARS)
}

/// Writes the words; each method returns those of a part of the tree.
struct Writer<'a> {
    names: &'a Resolution<'a>,
    labels: &'a dyn Labels,
    dialect: Dialect,
    /// Whether tables are shown with their database.
    has_several_databases: bool,
    /// The enclosing SELECTs, the innermost last.
    frames: Vec<Frame<'a>>,
    queries: usize,
    depth: usize,
}

/// A SELECT that is being explained.
#[derive(Clone, Copy)]
struct Frame<'a> {
    select: &'a Select,
    /// Its number among the scopes.
    scope: Option<usize>,
    /// Whether columns are shown with their table.
    is_qualified: bool,
    /// Whether output names are being resolved, so that they are not resolved again.
    is_alias: bool,
}
