//! Renders a rule as SQL for the engine.

use super::{
    block::Block,
    recipe::{Recipe, Rule, Side, Test, TestKind},
    value::{REFERENCE_STEPS, quote_name},
};

/// A rule of a recipe over the subsets.
pub(crate) struct RuleSql<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) rule: &'a Rule,
    /// Whether both columns are numeric, per test.
    pub(crate) numeric: Vec<bool>,
    /// Limit on the rows of the left subset, in key order.
    pub(crate) first: Option<usize>,
}

impl RuleSql<'_> {
    /// Renders the query that counts the candidates of a block.
    pub(crate) fn count(&self, block: Block) -> String {
        let counted = |side: &str| format!("(SELECT b, count(*) AS c FROM {side} WHERE b IS NOT NULL GROUP BY b)");
        format!(
            "{} SELECT coalesce(sum(x.c * y.c), 0) FROM {} x JOIN {} y ON x.b = y.b",
            self.sides(block),
            counted("l"),
            counted("r")
        )
    }

    /// Renders the query for the pairs that pass all tests: both keys, then for each test both values and their distance, or the similarity
    /// of fuzzy texts.
    pub(crate) fn pairs(&self, block: Block) -> String {
        let mut columns = vec!["l.k AS lk".to_owned(), "r.k AS rk".to_owned()];
        let mut conditions = Vec::new();
        for (at, test) in self.rule.tests.iter().enumerate() {
            let (condition, measure) = compare(at, test);
            columns.push(format!("l.a{at} AS la{at}, r.a{at} AS ra{at}, {measure} AS m{at}"));
            conditions.push(condition);
        }
        let (columns, conditions) = (columns.join(", "), conditions.join(" AND "));
        format!("{} SELECT {columns} FROM l JOIN r ON l.b = r.b WHERE {conditions}", self.sides(block))
    }

    /// Renders both sides with their blocks: `l` and `r`.
    fn sides(&self, block: Block) -> String {
        let (left, right) = block.keys();
        let blocked = |name: &str, keys: &[String]| {
            let each = keys.iter().map(|key| format!("SELECT *, {key} AS b FROM {name}0"));
            format!("{name} AS ({})", each.collect::<Vec<_>>().join(" UNION ALL "))
        };
        format!(
            "WITH l0 AS ({}), r0 AS ({}), {}, {}",
            self.compared_values(&self.recipe.left, |test| &test.left, self.first),
            self.compared_values(&self.recipe.right, |test| &test.right, None),
            blocked("l", &left),
            blocked("r", &right)
        )
    }

    /// Renders the key of each row, its values, and the normalised values that are compared.
    fn compared_values(&self, side: &Side, column: impl Fn(&Test) -> &str, first: Option<usize>) -> String {
        let key = quote_name(&side.key);
        let mut columns = vec![format!("{key} AS k")];
        for (at, test) in self.rule.tests.iter().enumerate() {
            let column = quote_name(column(test));
            let compared = normal(test.test, self.numeric[at], &column);
            columns.push(format!("{column} AS a{at}, {compared} AS n{at}"));
        }
        let first = first.map(|rows| format!(" ORDER BY {key} LIMIT {rows}")).unwrap_or_default();
        format!("SELECT {} FROM scoped.{}{first}", columns.join(", "), quote_name(&side.alias))
    }
}

/// Renders a column in normalised form; null if it cannot be compared.
fn normal(test: TestKind, numeric: bool, column: &str) -> String {
    let text = format!("trim(CAST({column} AS VARCHAR))");
    match test {
        TestKind::Exact if numeric => format!("TRY_CAST({text} AS DOUBLE)"),
        TestKind::Exact => format!("nullif(lower({text}), '')"),
        TestKind::Tolerance => format!("TRY_CAST({text} AS DOUBLE)"),
        TestKind::Window => format!("CAST(TRY_CAST(substr({text}, 1, 10) AS DATE) AS INT)"),
        TestKind::Fuzzy => {
            format!("nullif(trim(lower(regexp_replace({text}, '[^\\p{{L}}\\p{{N}}]+', ' ', 'g'))), '')")
        }
        TestKind::Contains | TestKind::NamedIn => {
            let spelled = REFERENCE_STEPS.iter().fold(format!("lower({text})"), |sql, (pattern, replacement)| {
                format!("regexp_replace({sql}, '{pattern}', '{replacement}', 'g')")
            });
            format!("nullif(trim({spelled}), '')")
        }
    }
}

/// Renders the condition of a test, and its measure.
fn compare(at: usize, test: &Test) -> (String, String) {
    let (left, right) = (format!("l.n{at}"), format!("r.n{at}"));
    let limit = test.limit().unwrap_or_default();
    let apart = format!("greatest({left} - {right}, {right} - {left})");
    match test.test {
        TestKind::Exact => (format!("{left} = {right}"), "0".to_owned()),
        TestKind::Contains => (has_words(&left, &right), "0".to_owned()),
        TestKind::NamedIn => (has_words(&right, &left), "0".to_owned()),
        // Binary fractions represent cents only approximately.
        TestKind::Tolerance => (format!("{apart} <= CAST({:e} AS DOUBLE)", limit + limit.abs() * 1e-9 + 1e-9), apart),
        TestKind::Window => (format!("{apart} <= {limit}"), apart),
        TestKind::Fuzzy => {
            let longer = format!("CAST(greatest(character_length({left}), character_length({right})) AS DOUBLE)");
            let alike = format!("1.0 - CAST(levenshtein({left}, {right}) AS DOUBLE) / {longer}");
            (format!("{alike} >= {}", limit - 1e-9), alike)
        }
    }
}

/// Renders whether a text contains another as whole words.
fn has_words(text: &str, words: &str) -> String {
    format!("strpos(concat(' ', {text}, ' '), concat(' ', {words}, ' ')) > 0")
}
