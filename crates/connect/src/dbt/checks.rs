//! Keys from tests and constraints: unique, non-null columns are keys; relationships are foreign keys.

use std::collections::HashMap;

use serde_json::Value;

use super::artifact::{Node, texts};
use crate::table::ForeignKey;

/// The tests and constraints of one table.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Checks {
    pub(super) unique: Vec<String>,
    pub(super) not_null: Vec<String>,
    /// Column sets that are unique in combination.
    pub(super) together: Vec<Vec<String>>,
    /// The primary key declared by the project.
    pub(super) primary: Vec<String>,
    /// The accepted values of columns.
    pub(super) accepted: Vec<(String, Vec<String>)>,
    pub(super) references: Vec<ForeignKey>,
}

impl Checks {
    /// Returns the columns of the primary key: the declared one, else the first unique, non-null column, else the first
    /// unique combination.
    pub(super) fn key(&self) -> Vec<String> {
        if !self.primary.is_empty() {
            return self.primary.clone();
        }
        let is_never_null = |name: &&String| self.not_null.iter().any(|known| known.eq_ignore_ascii_case(name));
        match self.unique.iter().find(is_never_null) {
            Some(name) => vec![name.clone()],
            None => self.together.first().cloned().unwrap_or_default(),
        }
    }
}

/// Returns the checks of each table by id. `named` finds the id of the table a test refers to.
pub(super) fn gather(nodes: &[(&String, &Node)], names: &HashMap<String, String>) -> HashMap<String, Checks> {
    let mut gathered: HashMap<String, Checks> = HashMap::new();
    for (id, node) in nodes {
        if node.resource_type == "test" {
            test(node, names, &mut gathered);
        } else if names.contains_key(id.as_str()) {
            constraints(id, node, names, gathered.entry((*id).clone()).or_default());
        }
    }
    gathered
}

fn test(node: &Node, names: &HashMap<String, String>, gathered: &mut HashMap<String, Checks>) {
    let Some(metadata) = &node.test_metadata else { return };
    let depends = texts(node.depends_on.get("nodes").unwrap_or(&Value::Null));
    let text = |name: &str| metadata.argument(name).and_then(Value::as_str);
    let target = text("to").and_then(|to| find_reference(to, &depends));
    // Since dbt 1.3 a test names the node it is attached to; before, it depends on that node and on the referenced one.
    let attached = node.attached_node.clone().filter(|id| names.contains_key(id)).or_else(|| {
        let by_model = text("model").and_then(|model| find_reference(model, &depends));
        by_model.or_else(|| depends.iter().find(|id| Some(*id) != target.as_ref()).cloned())
    });
    let Some(attached) = attached.or_else(|| depends.first().cloned()) else { return };
    let column = node.column_name.as_deref().or_else(|| text("column_name")).or_else(|| text("field"));
    let checks = gathered.entry(attached).or_default();
    let name = match metadata.namespace.as_deref() {
        Some(namespace) => format!("{namespace}.{}", metadata.name),
        None => metadata.name.clone(),
    };
    match (name.as_str(), column.map(|column| unquote(column).to_owned())) {
        ("unique", Some(column)) => checks.unique.push(column),
        ("not_null", Some(column)) => checks.not_null.push(column),
        ("accepted_values", Some(column)) => {
            let values = metadata.argument("values").and_then(Value::as_array).cloned().unwrap_or_default();
            let written = values.iter().map(crate::filter::text).collect();
            checks.accepted.push((column, written));
        }
        ("relationships" | "dbt_utils.relationships_where", _) => {
            // The column of the tested table; `field` is the referenced one.
            let from = node.column_name.as_deref().or_else(|| text("column_name")).or_else(|| text("from"));
            let (Some(from), Some(target), Some(field)) = (from, target, text("field")) else { return };
            let Some(table) = names.get(&target) else { return };
            checks.references.push(ForeignKey {
                columns: vec![unquote(from).to_owned()],
                table: table.clone(),
                references: vec![unquote(field).to_owned()],
            });
        }
        ("dbt_utils.unique_combination_of_columns", _) => {
            let columns = texts(metadata.argument("combination_of_columns").unwrap_or(&Value::Null));
            if !columns.is_empty() {
                checks.together.push(columns.iter().map(|name| unquote(name).to_owned()).collect());
            }
        }
        _ => {}
    }
}

/// Adds constraints of contracts, on tables and columns (since dbt 1.5).
fn constraints(id: &str, node: &Node, names: &HashMap<String, String>, checks: &mut Checks) {
    checks.primary = texts(&node.primary_key);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let of_columns = node.columns.iter().flatten().flat_map(|(key, column)| {
        let name = column.name.clone().unwrap_or_else(|| key.clone());
        list(&column.constraints).into_iter().map(move |constraint| (constraint, vec![name.clone()]))
    });
    let of_table = list(&node.constraints).into_iter().map(|constraint| {
        let columns = texts(constraint.get("columns").unwrap_or(&Value::Null));
        (constraint, columns)
    });
    let depends = texts(node.depends_on.get("nodes").unwrap_or(&Value::Null));
    for (constraint, columns) in of_table.chain(of_columns) {
        if columns.is_empty() {
            continue;
        }
        match constraint.get("type").and_then(Value::as_str) {
            Some("primary_key") => checks.primary = columns,
            Some("not_null") => checks.not_null.extend(columns),
            Some("unique") if columns.len() == 1 => checks.unique.extend(columns),
            Some("unique") => checks.together.push(columns),
            Some("foreign_key") => {
                let to = constraint.get("to").and_then(Value::as_str);
                // `to` is a reference in the project, or the relation it was resolved to.
                let target = to.and_then(|to| find_reference(to, &depends).or_else(|| by_relation(to, &depends)));
                let Some(table) = target.filter(|target| target != id).and_then(|target| names.get(&target)) else {
                    continue;
                };
                let references = texts(constraint.get("to_columns").unwrap_or(&Value::Null));
                checks.references.push(ForeignKey { columns, table: table.clone(), references });
            }
            _ => {}
        }
    }
}

/// Finds the id among `depends` referenced by `ref('customers')`, `ref('shop', 'customers')`, `ref('customers', v=2)` or
/// `source('raw', 'customers')`, ignoring surrounding text.
fn find_reference(text: &str, depends: &[String]) -> Option<String> {
    let (kind, at) = [("ref", text.find("ref(")), ("source", text.find("source("))]
        .into_iter()
        .filter_map(|(kind, at)| Some((kind, at?)))
        .min_by_key(|(_, at)| *at)?;
    let inside = &text[at + kind.len() + 1..];
    let inside = &inside[..inside.find(')').unwrap_or(inside.len())];
    let mut parts: Vec<&str> = Vec::new();
    let mut version = None;
    for part in inside.split(',').map(str::trim) {
        match part.split_once('=') {
            Some((_, value)) => version = Some(value.trim().trim_matches(['\'', '"'])),
            None => parts.push(part.trim_matches(['\'', '"'])),
        }
    }
    let name = *parts.last()?;
    let ends = |id: &str| match (kind, parts.as_slice()) {
        ("source", [source, name]) => id.starts_with("source.") && id.ends_with(&format!(".{source}.{name}")),
        ("source", _) => false,
        _ => {
            let of_model = !id.starts_with("source.") && id.split('.').nth(2) == Some(name);
            of_model && version.is_none_or(|version| id.ends_with(&format!(".v{version}")))
        }
    };
    depends.iter().find(|id| ends(id)).cloned()
}

fn by_relation(relation: &str, depends: &[String]) -> Option<String> {
    let name = unquote(relation.rsplit('.').next()?);
    depends.iter().find(|id| id.split('.').nth(2).is_some_and(|known| known.eq_ignore_ascii_case(name))).cloned()
}

/// Strips the quotes of any warehouse dialect from a name.
fn unquote(name: &str) -> &str {
    name.trim_matches(['"', '`', '[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_references_in_surrounding_text() {
        let depends: Vec<String> =
            ["model.shop.orders", "model.shop.customers.v2", "source.shop.raw.customers"].map(str::to_owned).to_vec();
        let check = |text: &str, id: Option<&str>| assert_eq!(find_reference(text, &depends).as_deref(), id, "{text}");
        check("{{ get_where_subquery(ref('orders')) }}", Some("model.shop.orders"));
        check("ref(\"shop\", \"orders\")", Some("model.shop.orders"));
        check("ref('customers', v=2)", Some("model.shop.customers.v2"));
        check("ref('customers', version='1')", None);
        check("source('raw', 'customers')", Some("source.shop.raw.customers"));
        check("source('other', 'customers')", None);
        check("ref(", None);
        check("analytics.orders", None);
    }
}
