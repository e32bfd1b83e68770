//! SELECT: what is listed or computed, from which rows, grouped how.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
};

use super::phrase::{Binding, Phrase, list};
use super::{Frame, Writer};
use crate::resolution::RelationKind;
use crate::syntax::{conjuncts, last_part, value_of};

/// The projection of a SELECT.
struct Head {
    text: String,
    /// Whether it mentions the table, so that FROM can be omitted.
    names_table: bool,
    /// Whether an item has parts of its own, so that a comma follows.
    is_long: bool,
}

impl<'a> Writer<'a> {
    /// Explains a SELECT. `around` is the query whose ORDER BY and LIMIT apply to it; `is_inner` is whether another query names
    /// its columns.
    pub(super) fn select(&mut self, select: &'a Select, around: Option<&'a Query>, is_inner: bool) -> String {
        let scope = self.names.scope(select);
        let relations = scope.map_or(0, |scope| self.names.relations_of(scope).count());
        self.frames.push(Frame { select, scope, is_qualified: relations > 1, is_alias: false });
        let groups = self.groups(select, is_inner);
        let head = self.head(select, &groups, is_inner);
        let mut text = head.text;
        if !head.names_table && !select.from.is_empty() {
            let from = self.describe_from(&select.from);
            text = format!("{text}{} from {from}", if head.is_long { "," } else { "" });
        }
        if let Some(condition) = &select.selection {
            text.push_str(&self.filter(condition));
        }
        if !groups.is_empty() {
            text = format!("{text}, grouped by {}", list(&groups.texts, "and"));
        }
        text.push_str(&groups.modifiers);
        if let Some(condition) = &select.having {
            text = format!("{text}, only groups where {}", self.condition(condition).text);
        }
        if let Some(condition) = &select.qualify {
            text = format!("{text}, only rows where {}", self.condition(condition).text);
        }
        if let Some(query) = around {
            text.push_str(&self.rest(query));
        }
        self.frames.pop();
        text
    }

    /// Explains WHERE, starting with conditions on related rows.
    fn filter(&mut self, condition: &'a Expr) -> String {
        let (mut existences, mut others) = (Vec::new(), Vec::new());
        for part in conjuncts(condition) {
            match self.existence(part) {
                Some(existence) => existences.push(existence.plural()),
                None => others.push(part),
            }
        }
        let mut text = String::new();
        if !existences.is_empty() {
            text = format!(" that {}", list(&existences, "and"));
        }
        if !others.is_empty() {
            text = format!("{text} where {}", self.conjunction(&others).text);
        }
        text
    }

    fn groups(&mut self, select: &'a Select, is_inner: bool) -> Groups {
        let mut groups = Groups::default();
        let modifiers = match &select.group_by {
            GroupByExpr::Expressions(keys, modifiers) => {
                for key in keys {
                    let text = self.item(key).at_least(Binding::Sum);
                    let meant = self.resolve_item(key);
                    let item = select
                        .projection
                        .iter()
                        .find(|item| value_of(item).is_some_and(|own| std::ptr::eq(own, meant)));
                    groups.keys.push(text.clone());
                    let text = match item.filter(|_| is_inner) {
                        Some(item) => add_name(item, text),
                        None => text,
                    };
                    groups.texts.push(text);
                }
                modifiers
            }
            GroupByExpr::All(modifiers) => {
                groups.texts.push("all columns that are not computed".to_owned());
                modifiers
            }
        };
        for modifier in modifiers {
            groups.modifiers.push_str(&match modifier {
                GroupByWithModifier::Rollup => " with subtotals".to_owned(),
                other => format!(" {}", Phrase::fragment(other).text),
            });
        }
        groups
    }

    fn head(&mut self, select: &'a Select, groups: &Groups, is_inner: bool) -> Head {
        let mut listed: Vec<&'a SelectItem> = Vec::new();
        for item in &select.projection {
            let is_group =
                value_of(item).is_some_and(|value| groups.keys.contains(&self.expr(value).at_least(Binding::Sum)));
            if !is_group {
                listed.push(item);
            }
        }
        if listed.is_empty() {
            listed = select.projection.iter().collect();
        }
        let distinct = match &select.distinct {
            None | Some(Distinct::All) => String::new(),
            Some(Distinct::Distinct) => "distinct ".to_owned(),
            Some(Distinct::On(keys)) => {
                let keys: Vec<String> = keys.iter().map(|key| self.item(key).at_least(Binding::Sum)).collect();
                format!("first row for each {}: ", list(&keys, "and"))
            }
        };
        if let [item] = listed.as_slice()
            && distinct.is_empty()
            && let Some(text) = self.single_aggregate(select, item)
        {
            let text = if is_inner { add_name(item, text) } else { text };
            return Head { text, names_table: true, is_long: false };
        }
        let (mut texts, mut is_long) = (Vec::new(), false);
        for item in listed {
            let phrase = self.select_item(item);
            if is_inner && matches!(item, SelectItem::ExprWithAlias { .. }) {
                texts.push(add_name(item, phrase.at_least(Binding::Sum)));
            } else {
                is_long |= phrase.binding < Binding::Sum;
                texts.push(phrase.text);
            }
        }
        let text = if is_long { texts.join("; ") } else { list(&texts, "and") };
        Head { text: format!("{distinct}{text}"), names_table: false, is_long }
    }

    /// Explains an aggregate over a single table, which becomes part of the words: `sum of invoices.total`.
    fn single_aggregate(&mut self, select: &'a Select, item: &'a SelectItem) -> Option<String> {
        let [from] = select.from.as_slice() else { return None };
        let mut relations = self.names.relations_of(self.frame()?.scope?);
        let (Some((at, relation)), None, true) = (relations.next(), relations.next(), from.joins.is_empty()) else {
            return None;
        };
        if relation.kind == RelationKind::Derived {
            return None;
        }
        let argument = super::aggregate::plain_argument(value_of(item)?)?;
        if argument.is_none() {
            return Some(match &relation.kind {
                // The relation is described as rows already.
                RelationKind::Input(_) => format!("count of {}", self.relation(at)),
                _ => format!("count of rows of {}", self.relation(at)),
            });
        }
        self.names.column(argument?)?;
        Some(self.qualify(value_of(item)?))
    }

    fn select_item(&mut self, item: &'a SelectItem) -> Phrase {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => self.expr(expr),
            SelectItem::Wildcard(options) if options.opt_except.is_none() => Phrase::atom("all columns"),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options)
                if options.opt_except.is_none() =>
            {
                let wanted = last_part(name);
                let scope = self.frame().and_then(|frame| frame.scope);
                let mut relations = scope.into_iter().flat_map(|scope| self.names.relations_of(scope));
                let is_meant = |own: &Option<String>| {
                    own.as_ref().zip(wanted).is_some_and(|(own, name)| own.eq_ignore_ascii_case(&name.value))
                };
                let found = relations.find(|(_, relation)| is_meant(&relation.name)).map(|(at, _)| at);
                let shown = found.map(|at| self.relation(at)).filter(|name| !name.is_empty());
                Phrase::atom(format!("all columns of {}", shown.unwrap_or_else(|| name.to_string())))
            }
            other => Phrase::fragment(other),
        }
    }
}

/// The keys of GROUP BY.
#[derive(Default)]
struct Groups {
    /// The words for each key.
    keys: Vec<String>,
    /// The words for each key, with its output name.
    texts: Vec<String>,
    modifiers: String,
}

impl Groups {
    fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// Adds the output name of an item if it differs from its words.
fn add_name(item: &SelectItem, text: String) -> String {
    match item {
        SelectItem::ExprWithAlias { alias, .. } if alias.value != text => format!("{text} as {}", alias.value),
        _ => text,
    }
}
