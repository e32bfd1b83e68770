//! What the things that were found mean, for the checks of a plan: read from the answers of tools, and nothing else.

use super::evidence::Evidence;
use prospector_agent::{
    plan::meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, TableMeaning},
    plan::sense::question::stems,
};
use prospector_connect::table::joins::KeyGraph;
use prospector_connect::table::{Column, ForeignKey, Table};

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
        let tables: Vec<Table> =
            self.schemas.iter().filter(|table| table.database == database).map(read_keys).collect();
        let place = |name: &str| tables.iter().position(|table| table.name == name);
        let path = KeyGraph::new(&tables).find_path(&[place(from)?], &[place(to)?])?;
        let between = path.get(1..path.len().saturating_sub(1)).unwrap_or_default();
        Some(between.iter().map(|at| tables[*at].name.clone()).collect())
    }
}

/// The table with its keys, each of one column.
fn read_keys(table: &TableMeaning) -> Table {
    let column = |column: &ColumnMeaning| Column {
        name: column.name.clone(),
        primary_key: column.primary_key,
        ..Column::default()
    };
    let key = |column: &ColumnMeaning| {
        let (table, references) = column.refers.clone()?;
        Some(ForeignKey { columns: vec![column.name.clone()], table, references: vec![references] })
    };
    Table {
        name: table.name.clone(),
        columns: table.columns.iter().map(column).collect(),
        foreign_keys: table.columns.iter().filter_map(key).collect(),
        ..Table::default()
    }
}
