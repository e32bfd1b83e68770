//! Conversion of models, seeds, snapshots and sources to tables.

use std::collections::HashMap;

use prospector_core::Problem;
use serde_json::Value;

use super::artifact::{Catalog, CatalogTable, Manifest, Node};
use super::checks::{Checks, gather};
use crate::keys;
use crate::table::{Column, ColumnType, Table};

/// The resource types of dbt that are tables.
const TABLES: [&str; 4] = ["model", "seed", "snapshot", "source"];

/// Maximum number of accepted values listed in a description.
const MAX_VALUES: usize = 20;

/// The names that adapters use for the row count.
const ROW_COUNTS: [&str; 4] = ["row_count", "num_rows", "rows", "approximate_row_count"];

/// Returns the tables described by the files.
pub(super) fn tables(manifest: Manifest, mut catalog: Catalog, place: &str) -> (Vec<Table>, Vec<Problem>) {
    let nodes = manifest.nodes.unwrap_or_default();
    let mut problems = Vec::new();
    let bad: Vec<&String> = nodes.bad.iter().chain(&manifest.sources.bad).collect();
    if let Some(first) = bad.first() {
        let more = if bad.len() > 1 { format!(" and {} more", bad.len() - 1) } else { String::new() };
        let reason = format!("skipped invalid dbt nodes: `{first}`{more}");
        problems.push(Problem::warning(place, reason).advise("regenerate the manifest with `dbt parse`"));
    }
    let all: Vec<(&String, &Node)> = nodes.good.iter().chain(&manifest.sources.good).collect();
    let is_table = |node: &Node| {
        TABLES.contains(&node.resource_type.as_str())
            // Ephemeral models are inlined into other models.
            && text(&node.config, "materialized") != Some("ephemeral")
            && node.config.get("enabled") != Some(&Value::Bool(false))
    };
    let names = names(&all, is_table);
    let checks = gather(&all, &names);
    let nothing = Checks::default();
    let mut referred: HashMap<&str, Vec<&String>> = HashMap::new();
    for key in checks.values().flat_map(|checks| &checks.references) {
        referred.entry(&key.table).or_default().extend(&key.references);
    }
    let mut tables = Vec::with_capacity(names.len());
    for (id, node) in all {
        let Some(name) = names.get(id) else { continue };
        let found = catalog.nodes.good.swap_remove(id).or_else(|| catalog.sources.good.swap_remove(id));
        let referred = referred.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        tables.push(table(name, node, found.unwrap_or_default(), checks.get(id).unwrap_or(&nothing), referred));
    }
    if tables.is_empty() {
        problems.push(Problem::warning(place, "the manifest contains no model, seed, snapshot or source"));
    }
    problems.extend(keys::resolve(&mut tables, place));
    (tables, problems)
}

/// Returns the name of each table: a model by its name, with its version if it has one; a source prefixed by its group.
/// Ambiguous names are prefixed by the package.
fn names(all: &[(&String, &Node)], is_table: impl Fn(&Node) -> bool) -> HashMap<String, String> {
    let short = |node: &Node| {
        let version = match &node.version {
            Value::Null => String::new(),
            version => format!(".v{}", crate::filter::text(version)),
        };
        match &node.source_name {
            Some(group) if node.resource_type == "source" => format!("{group}.{}", node.name),
            _ => format!("{}{version}", node.name),
        }
    };
    let mut times: HashMap<String, usize> = HashMap::new();
    let tables: Vec<_> = all.iter().filter(|(_, node)| is_table(node)).collect();
    for (_, node) in &tables {
        *times.entry(short(node).to_lowercase()).or_default() += 1;
    }
    let name = |id: &str, node: &Node| {
        let name = short(node);
        match (times.get(&name.to_lowercase()), id.split('.').nth(1)) {
            (Some(2..), Some(package)) => format!("{package}.{name}"),
            _ => name,
        }
    };
    tables.into_iter().map(|(id, node)| ((*id).clone(), name(id, node))).collect()
}

fn table(name: &str, node: &Node, found: CatalogTable, checks: &Checks, referred: &[&String]) -> Table {
    let row_count = ROW_COUNTS.iter().find_map(|wanted| whole(found.stats.get(wanted)?.get("value")?));
    Table {
        name: name.to_owned(),
        description: description(node, &found),
        row_count,
        // The count dates from when the catalog was generated.
        row_count_estimated: row_count.is_some(),
        columns: columns(node, &found, checks, referred),
        foreign_keys: checks.references.clone(),
        // Models are treated as tables, whatever their materialization in the warehouse.
        ..Table::default()
    }
}

/// Returns the description of the project, else of the warehouse, with the relation of the warehouse.
fn description(node: &Node, found: &CatalogTable) -> String {
    let said = node.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let said = said.or_else(|| text(&found.metadata, "comment").map(str::trim).filter(|text| !text.is_empty()));
    let own = node.identifier.as_deref().or(node.alias.as_deref()).unwrap_or(&node.name);
    let relation: Vec<&str> = [node.database.as_deref(), node.schema.as_deref(), Some(own)]
        .into_iter()
        .flatten()
        .filter(|p| !p.is_empty())
        .collect();
    let relation = format!("dbt {}, in the warehouse {}", node.resource_type, relation.join("."));
    match said {
        Some(said) => format!("{said}\n{relation}"),
        None => relation,
    }
}

/// Returns the columns in the order of the warehouse if known, then further columns declared by the project.
fn columns(node: &Node, found: &CatalogTable, checks: &Checks, referred: &[&String]) -> Vec<Column> {
    let has = |list: &[String], name: &str| list.iter().any(|known| known.eq_ignore_ascii_case(name));
    let key = checks.key();
    let nothing = super::artifact::DeclaredColumn::default();
    let column =
        |name: &str, data_type: Option<&str>, declared: &super::artifact::DeclaredColumn, comment: Option<&str>| {
            let said =
                [declared.description.as_deref(), comment].into_iter().flatten().map(str::trim).find(|t| !t.is_empty());
            let mut description = said.unwrap_or_default().to_owned();
            if let Some((_, values)) = checks.accepted.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                let more = if values.len() > MAX_VALUES { ", …" } else { "" };
                let listed = values.iter().take(MAX_VALUES).cloned().collect::<Vec<_>>().join(", ");
                let gap = if description.is_empty() { "" } else { "; " };
                description += &format!("{gap}one of {listed}{more}");
            }
            let data_type = data_type.or(declared.data_type.as_deref()).unwrap_or_default();
            Column {
                name: name.to_owned(),
                data_type: data_type.to_owned(),
                column_type: ColumnType::from_sql(data_type),
                nullable: !has(&checks.not_null, name) && !has(&key, name),
                primary_key: has(&key, name),
                description,
                ..Column::default()
            }
        };
    let declared: Vec<(&str, &super::artifact::DeclaredColumn)> = node
        .columns
        .iter()
        .flatten()
        .map(|(key, declared)| (declared.name.as_deref().unwrap_or(key.as_str()), declared))
        .collect();
    let mut there: Vec<(f64, &str, &super::artifact::CatalogColumn)> = found
        .columns
        .iter()
        .map(|(key, column)| (column.index.unwrap_or(f64::MAX), column.name.as_deref().unwrap_or(key), column))
        .collect();
    there.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut columns: Vec<Column> = Vec::with_capacity(there.len().max(declared.len()));
    for (_, name, found) in &there {
        // Warehouses may upper-case names; the project's spelling is preferred.
        let own = declared.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let (spelled, declared) = own.map_or((*name, &nothing), |(known, declared)| (*known, *declared));
        columns.push(column(spelled, found.data_type.as_deref(), declared, found.comment.as_deref()));
    }
    for (name, declared) in declared {
        if !there.iter().any(|(_, known, _)| known.eq_ignore_ascii_case(name)) {
            columns.push(column(name, None, declared, None));
        }
    }
    // Tests may refer to undeclared columns.
    let tested = checks.unique.iter().chain(&checks.not_null).chain(&key);
    let referring = checks.references.iter().flat_map(|key| &key.columns);
    for name in tested.chain(referring).chain(referred.iter().copied()) {
        if !columns.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            columns.push(column(name, None, &nothing, None));
        }
    }
    columns
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Parses a row count as adapters write it: `1200`, `1200.0`, `"1,200"`.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float >= 0.0).then_some(float as u64)
        }),
        Value::String(text) => text.replace([',', '_'], "").trim().parse().ok(),
        _ => None,
    }
}
