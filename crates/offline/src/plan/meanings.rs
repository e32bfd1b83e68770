//! What the things that were found mean, for the checks of a plan: read from the answers of tools, and nothing else.

use std::collections::VecDeque;

use super::evidence::Evidence;
use prospector_agent::{
    plan::meaning::{DefinedTerm, Meanings, OperationMeaning, TableMeaning},
    plan::sense::question::stems,
};

/// So many tables are named for a word.
const MAX_HOMES: usize = 3;

impl Meanings for Evidence {
    fn table(&self, id: &str) -> Option<TableMeaning> {
        let read = self.schemas.iter().find(|schema| schema.id == id).cloned();
        // Where no columns could be read, the hit is all there is.
        read.or_else(|| {
            let hit = self.tables.iter().find(|hit| hit.id() == id).filter(|_| self.schemas.is_empty())?;
            let (database, name) = (hit.database.clone(), hit.table.clone());
            Some(TableMeaning {
                id: hit.id(),
                database,
                name,
                description: hit.description.clone(),
                columns: Vec::new(),
            })
        })
    }

    fn operation(&self, id: &str) -> Option<OperationMeaning> {
        let hit = self.operations.iter().find(|hit| format!("{}.{}", hit.parent, hit.name) == id)?;
        let read = self.read_operations.iter().find(|read| read.id == id);
        Some(OperationMeaning {
            writes: read.and_then(|read| read.writes),
            api: hit.parent.clone(),
            name: hit.name.clone(),
            description: hit.description.clone(),
            required: Vec::new(),
        })
    }

    fn subject(&self, name: &str) -> Option<String> {
        let of = |hit: &super::evidence::NamedHit| format!("{} {} {}", hit.parent, hit.name, hit.description);
        let sections: Vec<String> = self.documents.iter().filter(|hit| hit.parent == name).map(of).collect();
        let skill = self.skills.iter().find(|hit| hit.name == name).map(of);
        let facts = self.facts.iter().filter(|fact| fact.document() == name);
        let defined: Vec<String> = facts.map(|fact| format!("{} {}", fact.term, fact.definition)).collect();
        let all = sections.into_iter().chain(skill).chain(defined).collect::<Vec<_>>().join(" ");
        (!all.is_empty()).then_some(all)
    }

    fn mentions(&self, name: &str, stem: &str) -> bool {
        self.subject(name).is_some_and(|said| stems(&said).iter().any(|word| word == stem))
    }

    fn definitions(&self, _: &str) -> Vec<DefinedTerm> {
        let known = |fact: &super::evidence::Definition| DefinedTerm {
            term: fact.term.clone(),
            definition: fact.definition.clone(),
            source: fact.source.clone(),
        };
        self.facts.iter().filter(|fact| !fact.term.is_empty()).map(known).collect()
    }

    fn homes(&self, stem: &str) -> Vec<String> {
        let holds = |text: &str| stems(text).iter().any(|word| word == stem);
        let named = self.schemas.iter().filter(|table| holds(&table.name));
        let by_column = self.schemas.iter().filter(|table| {
            !holds(&table.name)
                && table.columns.iter().any(|column| holds(&column.name) || holds(column.natural_name()))
        });
        named.chain(by_column).take(MAX_HOMES).map(|table| table.id.clone()).collect()
    }

    fn bridges(&self, database: &str, from: &str, to: &str) -> Option<Vec<String>> {
        let own: Vec<&TableMeaning> = self.schemas.iter().filter(|table| table.database == database).collect();
        let mut open = VecDeque::from([vec![from.to_owned()]]);
        let mut seen = vec![from.to_owned()];
        while let Some(way) = open.pop_front() {
            let last = way.last()?;
            if last == to {
                return Some(way[1..way.len() - 1].to_vec());
            }
            for next in own.iter().filter(|table| joins(own.iter().find(|known| known.name == *last), table)) {
                if !seen.contains(&next.name) {
                    seen.push(next.name.clone());
                    open.push_back(way.iter().cloned().chain([next.name.clone()]).collect());
                }
            }
        }
        None
    }
}

fn joins(a: Option<&&TableMeaning>, b: &TableMeaning) -> bool {
    let refers = |from: &TableMeaning, to: &TableMeaning| {
        from.columns.iter().any(|column| column.refers.as_ref().is_some_and(|(table, _)| *table == to.name))
    };
    a.is_some_and(|a| refers(a, b) || refers(b, a))
}
