//! Resolves the names used by questions to catalog entries.

use std::collections::HashMap;

use prospector_core::Kind;
use prospector_core::record::{Hit, Record};

/// A catalog entry: a table, operation, whole document, fact or skill, by id.
pub(crate) type Target = (Kind, String);

/// Returns the entry of a hit; of a section, its document.
pub(crate) fn target_of(hit: &Hit) -> Target {
    match hit.kind {
        Kind::Document => (hit.kind, hit.parent.clone()),
        _ => (hit.kind, hit.id.clone()),
    }
}

/// All names in a corpus and their entries.
pub(crate) struct TargetNames {
    /// By id, in lower case.
    ids: HashMap<String, Vec<Target>>,
    /// By alias, in lower case.
    aliases: HashMap<String, Vec<Target>>,
}

impl TargetNames {
    /// Collects the names of these records.
    pub(crate) fn new(records: &[Record]) -> TargetNames {
        let mut names = TargetNames { ids: HashMap::new(), aliases: HashMap::new() };
        let add = |to: &mut HashMap<String, Vec<Target>>, name: &str, target: Target| {
            let targets = to.entry(name.to_lowercase()).or_default();
            if !targets.contains(&target) {
                targets.push(target);
            }
        };
        for record in records {
            let target = match record.kind {
                Kind::Document => (record.kind, record.parent.clone()),
                _ => (record.kind, record.id.clone()),
            };
            if record.kind == Kind::Document {
                add(&mut names.ids, &record.parent, target.clone());
            }
            add(&mut names.ids, &record.id, target.clone());
            for alias in record.aliases.iter().chain([&record.name]) {
                add(&mut names.aliases, alias, target.clone());
            }
        }
        names
    }

    /// Resolves a name among entries of these kinds, or of all kinds if empty: an id, otherwise a unique alias. A skill
    /// may be named by its path, `owner/skill`, and a document by its file.
    pub(crate) fn resolve(&self, name: &str, kinds: &[Kind]) -> Option<Target> {
        self.lookup(name, kinds)
            .or_else(|| {
                let file = name.strip_suffix(".md").or_else(|| name.strip_suffix(".txt"));
                file.and_then(|stem| self.lookup(stem, kinds)).filter(|(kind, _)| *kind == Kind::Document)
            })
            .or_else(|| {
                let path = Some(name).filter(|name| !name.contains(char::is_whitespace))?;
                let (_, last) = path.trim_end_matches("/SKILL.md").rsplit_once('/')?;
                self.lookup(last, kinds).filter(|(kind, _)| *kind == Kind::Skill)
            })
    }

    fn lookup(&self, name: &str, kinds: &[Kind]) -> Option<Target> {
        let lower = name.to_lowercase();
        let of = |names: &HashMap<String, Vec<Target>>| -> Vec<Target> {
            let all = names.get(&lower).into_iter().flatten();
            all.filter(|(kind, _)| kinds.is_empty() || kinds.contains(kind)).cloned().collect()
        };
        let ids = of(&self.ids);
        let exact = ids.iter().find(|(_, id)| id == name);
        exact.or(ids.first()).cloned().or_else(|| match &of(&self.aliases)[..] {
            [only] => Some(only.clone()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: Kind, id: &str, parent: &str, name: &str, aliases: &[&str]) -> Record {
        let mut record = Record::new(kind, id, name);
        record.parent = parent.into();
        record.aliases = aliases.iter().map(ToString::to_string).collect();
        record
    }

    fn check(name: &str, kinds: &[Kind], expected: Option<&str>) {
        let names = TargetNames::new(&[
            record(Kind::Table, "shop.orders", "shop", "orders", &[]),
            record(Kind::Table, "shop.ORDERS", "shop", "ORDERS", &[]),
            record(Kind::Table, "shop.refunds", "shop", "refunds", &[]),
            record(
                Kind::Operation,
                "store.listRefunds",
                "store",
                "listRefunds",
                &["GET /refunds", "store GET /refunds"],
            ),
            record(Kind::Operation, "bank.listRefunds", "bank", "listRefunds", &["GET /refunds", "bank GET /refunds"]),
            record(Kind::Document, "guides/refunds#Window", "guides/refunds", "Window", &["guides/refunds"]),
            record(Kind::Document, "guides/refunds#Fees", "guides/refunds", "Fees", &[]),
            record(Kind::Skill, "refunds", "", "refunds", &[]),
        ]);
        assert_eq!(names.resolve(name, kinds).as_ref().map(|(_, id)| id.as_str()), expected, "{name}");
    }

    #[test]
    fn resolves_ids_ignoring_case() {
        check("shop.ORDERS", &[], Some("shop.ORDERS"));
        check("shop.orders", &[], Some("shop.orders"));
        check("Shop.Refunds", &[], Some("shop.refunds"));
        check("shop.invoices", &[], None);
    }

    #[test]
    fn resolves_unique_aliases() {
        check("store GET /refunds", &[], Some("store.listRefunds"));
        check("GET /refunds", &[], None);
        check("refunds", &[Kind::Table], Some("shop.refunds"));
        check("refunds", &[Kind::Skill], Some("refunds"));
    }

    #[test]
    fn resolves_sections_and_paths() {
        check("guides/refunds", &[], Some("guides/refunds"));
        check("guides/refunds#Fees", &[], Some("guides/refunds"));
        check("guides/refunds.md", &[], Some("guides/refunds"));
        check("owner__repo/refunds", &[Kind::Skill], Some("refunds"));
        check("owner/refunds/SKILL.md", &[], Some("refunds"));
        check("other/refunds", &[Kind::Table], None);
    }
}
