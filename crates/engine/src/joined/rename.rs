//! Renaming of tables in a statement to their names in DataFusion.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, Spanned, TableAlias,
    TableFactor, VisitMut, VisitorMut,
};
use sqlparser::tokenizer::Location;

use crate::source::{ResolvedTable, Source};
use crate::syntax::last_part;

/// Returns the query with `database.table` replaced by the names in DataFusion.
pub(super) fn rename_tables(query: &Query, sources: &[Arc<Source>], found: &[ResolvedTable]) -> Query {
    let mut query = query.clone();
    let _ = query.visit(&mut Renaming::new(sources, found));
    query
}

/// Returns the name of a table in DataFusion.
pub(super) fn register_name(found: &ResolvedTable) -> String {
    format!("source_{}_{}", found.source, found.table)
}

/// Replaces `database.table` by the names in DataFusion.
struct Renaming<'a> {
    sources: &'a [Arc<Source>],
    /// The table at each position of the text.
    found: HashMap<Location, &'a ResolvedTable>,
    /// The last part of a name, and the databases with such a table in the query.
    owners: HashMap<String, Vec<usize>>,
}

impl<'a> Renaming<'a> {
    fn new(sources: &'a [Arc<Source>], found: &'a [ResolvedTable]) -> Self {
        let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
        for found in found {
            let entry = owners.entry(last(&found.written)).or_default();
            if !entry.contains(&found.source) {
                entry.push(found.source);
            }
        }
        Renaming { sources, found: found.iter().map(|found| (found.written.span().start, found)).collect(), owners }
    }

    /// Returns the implicit alias of a table without one.
    fn alias(&self, source: usize, name: &str) -> String {
        match self.owners.get(name) {
            Some(owners) if owners.len() > 1 => format!("{}.{name}", self.sources[source].name.to_lowercase()),
            _ => name.to_owned(),
        }
    }
}

fn last(name: &ObjectName) -> String {
    last_part(name).map(|ident| ident.value.clone()).unwrap_or_default()
}

fn quote(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

impl VisitorMut for Renaming<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor
            && let Some(found) = self.found.get(&name.span().start)
        {
            let own = self.alias(found.source, &last(name));
            *name = ObjectName::from(vec![quote(&register_name(found))]);
            alias.get_or_insert_with(|| TableAlias {
                explicit: true,
                name: quote(&own),
                columns: Vec::new(),
                at: None,
            });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item
                && name.0.len() > 1
                && let Some(first) = name.0[0].as_ident()
                && let Some(source) =
                    self.sources.iter().position(|source| source.name.eq_ignore_ascii_case(&first.value))
                && self.owners.contains_key(&last(name))
            {
                *name = ObjectName::from(vec![quote(&self.alias(source, &last(name)))]);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expression
            && parts.len() > 2
            && let Some(source) =
                self.sources.iter().position(|source| source.name.eq_ignore_ascii_case(&parts[0].value))
        {
            let (table, column) = (parts[parts.len() - 2].value.clone(), parts[parts.len() - 1].clone());
            if self.owners.contains_key(&table) {
                *parts = vec![quote(&self.alias(source, &table)), column];
            }
        }
        ControlFlow::Continue(())
    }
}
