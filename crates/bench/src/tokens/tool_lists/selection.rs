//! The tools of each size, and the questions about them.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use prospector_core::Kind;
use prospector_core::record::Record;

use super::Setup;
use crate::{
    error::BenchError,
    questions::{self, Question},
    records::{self, ToolRecord},
    targets::TargetNames,
};

/// Tools in the order in which they are added to a list, so that a larger list contains the smaller ones.
#[derive(Debug)]
pub(super) struct Selection {
    /// The needed tools first, then the others of the first folder, then those of the other folders in turn.
    pub(super) tools: Vec<ToolRecord>,
    pub(super) questions: Vec<NeededTools>,
    /// Number of questions that need other tools.
    pub(super) skipped: usize,
}

/// A question with the tools that it needs.
#[derive(Debug, PartialEq)]
pub(super) struct NeededTools {
    pub(super) id: String,
    pub(super) query: String,
    /// The ids of their records.
    pub(super) ids: Vec<String>,
}

impl Selection {
    /// Reads the folders, and selects the questions whose tools fit into the smallest list.
    pub(super) fn read(setup: &Setup<'_>) -> Result<Selection, BenchError> {
        let read = |folder: &Path| records::read_tools(&folder.join("catalog.jsonl"));
        let folders: Result<Vec<Vec<ToolRecord>>, BenchError> =
            setup.folders.iter().map(|folder| read(folder)).collect();
        let queries = setup.folders.first().ok_or(BenchError::NoQuestions)?.join("queries.jsonl");
        let all = questions::sample_evenly(questions::read(&queries, None, true)?, setup.limit);
        let smallest = setup.sizes.iter().copied().min().unwrap_or_default();
        let selection = Selection::of(folders?, &all, smallest);
        let (requested, found) = (setup.sizes.iter().copied().max().unwrap_or_default(), selection.tools.len());
        if selection.questions.is_empty() {
            return Err(BenchError::NoFittingQuestion { path: queries, size: smallest });
        }
        if found < requested {
            return Err(BenchError::TooFewTools { requested, found });
        }
        Ok(selection)
    }

    fn of(folders: Vec<Vec<ToolRecord>>, questions: &[Question], smallest: usize) -> Selection {
        let mut folders = without_duplicates(folders).into_iter();
        let own = folders.next().unwrap_or_default();
        let chosen = choose_questions(&own, questions, smallest);
        let needed: HashSet<&str> = chosen.iter().flat_map(|question| &question.ids).map(String::as_str).collect();
        let (mut tools, rest): (Vec<ToolRecord>, Vec<ToolRecord>) =
            own.into_iter().partition(|tool| needed.contains(tool.record.id.as_str()));
        tools.extend(rest);
        let mut others: Vec<_> = folders.map(Vec::into_iter).collect();
        while others.iter().any(|folder| folder.len() > 0) {
            tools.extend(others.iter_mut().filter_map(Iterator::next));
        }
        Selection { skipped: questions.len() - chosen.len(), tools, questions: chosen }
    }
}

/// Selects the questions, in order, as long as the tools that they need are at most `smallest`.
fn choose_questions(own: &[ToolRecord], questions: &[Question], smallest: usize) -> Vec<NeededTools> {
    let records: Vec<Record> = own.iter().map(|tool| tool.record.clone()).collect();
    let names = TargetNames::new(&records);
    let mut needed: HashSet<String> = HashSet::new();
    let mut chosen = Vec::new();
    for Question { id, query, gold, .. } in questions {
        let found: Option<Vec<String>> =
            gold.iter().map(|name| names.resolve(name, &[Kind::Operation]).map(|(_, id)| id)).collect();
        let Some(mut ids) = found else { continue };
        ids.sort_unstable();
        ids.dedup();
        let added = ids.iter().filter(|id| !needed.contains(*id)).count();
        if needed.len() + added <= smallest {
            needed.extend(ids.iter().cloned());
            chosen.push(NeededTools { id: id.clone(), query: query.clone(), ids });
        }
    }
    chosen
}

/// Removes tools that make a list ambiguous: ids that occur already, tools of a further folder with name and description
/// of an earlier one, and servers whose name differs only in case, or occurs in an earlier folder.
fn without_duplicates(folders: Vec<Vec<ToolRecord>>) -> Vec<Vec<ToolRecord>> {
    let mut ids: HashSet<String> = HashSet::new();
    let mut servers: HashMap<String, (String, usize)> = HashMap::new();
    let mut described: HashSet<(String, String)> = HashSet::new();
    let mut kept = Vec::with_capacity(folders.len());
    for (at, tools) in folders.into_iter().enumerate() {
        let mut folder = Vec::with_capacity(tools.len());
        for tool in tools {
            let server = &tool.definition.server;
            let first = servers.entry(server.to_lowercase()).or_insert_with(|| (server.clone(), at));
            if first.0 != *server || first.1 != at {
                continue;
            }
            let text = (tool.definition.tool.clone(), tool.definition.description.clone());
            let is_new = described.insert(text) || at == 0;
            if is_new && ids.insert(tool.record.id.to_lowercase()) {
                folder.push(tool);
            }
        }
        kept.push(folder);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(server: &str, name: &str, description: &str) -> ToolRecord {
        let line = serde_json::json!({"id": format!("{server}.{name}"), "server": server, "tool": name,
                                      "description": description, "inputSchema": {"type": "object"}});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.jsonl");
        std::fs::write(&path, line.to_string()).unwrap();
        records::read_tools(&path).unwrap().remove(0)
    }

    fn question(id: &str, gold: &[&str]) -> Question {
        serde_json::from_value(serde_json::json!({"id": id, "query": "q", "gold": gold})).unwrap()
    }

    #[test]
    fn needed_tools_come_first_and_folders_take_turns() {
        let own =
            vec![tool("git", "log", "Lists commits"), tool("git", "diff", "Compares"), tool("git", "add", "Adds")];
        let first = vec![
            tool("mail", "send", "Sends"),
            tool("Git", "push", "Pushes"),
            tool("vcs", "log", "Lists commits"),
            tool("mail", "read", "Reads"),
        ];
        let second = vec![tool("maps", "route", "Finds a route"), tool("mail", "list", "Lists")];
        let questions = [
            question("fits", &["git.add"]),
            question("unknown", &["git.bisect"]),
            question("more", &["git.log", "git.diff"]),
            question("again", &["git.add", "git.log", "git.log"]),
        ];
        let selection = Selection::of(vec![own, first, second], &questions, 2);
        let ids: Vec<&str> = selection.tools.iter().map(|tool| tool.record.id.as_str()).collect();
        assert_eq!(ids, ["git.log", "git.add", "git.diff", "mail.send", "maps.route", "mail.read"]);
        let chosen: Vec<(&str, Vec<&str>)> = (selection.questions.iter())
            .map(|question| (question.id.as_str(), question.ids.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(chosen, [("fits", vec!["git.add"]), ("again", vec!["git.add", "git.log"])]);
        assert_eq!(selection.skipped, 2);
    }
}
