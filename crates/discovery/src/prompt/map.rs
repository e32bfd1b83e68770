//! The map: names and counts of what exists. A short list that is always in the prompt is what makes a model look.

use prospector_core::tokens;

use crate::Catalog;

/// At most this many tokens, by the cheap estimate; of a larger catalog the first names are shown.
const MOST: usize = 500;

/// The map of a catalog.
pub(super) fn text(catalog: &Catalog) -> String {
    let databases: Vec<String> = catalog
        .schema
        .databases()
        .map(|database| format!("{} ({} tables)", database.name, database.tables.len()))
        .collect();
    let apis: Vec<String> =
        catalog.apis.apis().iter().map(|api| format!("{} ({} operations)", api.name, api.operations.len())).collect();
    let documents: Vec<String> = catalog.documents.documents().iter().map(|document| document.name.clone()).collect();
    let skills: Vec<String> = catalog.skills.skills().iter().map(|skill| skill.name.clone()).collect();
    let facts: Vec<String> = catalog.facts.records().into_iter().map(|fact| fact.name).collect();
    let groups = [
        ("Databases", databases, "list_databases"),
        ("APIs", apis, "list_apis"),
        ("Documents", documents, "list_documents"),
        ("Skills", skills, "list_skills"),
        ("Known facts", facts, "list_known_facts"),
    ];
    let present = groups.iter().filter(|(_, names, _)| !names.is_empty()).count().max(1);
    let mut text = String::from("What exists:\n");
    for (title, names, tool) in groups {
        if !names.is_empty() {
            text.push_str(&line(title, &names, tool, MOST / present));
        }
    }
    if text.lines().count() == 1 {
        text.push_str("nothing: the catalog is empty\n");
    }
    text
}

/// One line of names that stays within its room.
fn line(title: &str, names: &[String], tool: &str, room: usize) -> String {
    let mut line = format!("{title} ({}): ", names.len());
    for (at, name) in names.iter().enumerate() {
        if tokens::estimate(&line) + tokens::estimate(name) > room {
            line.push_str(&format!("and {} more, see {tool}", names.len() - at));
            break;
        }
        line.push_str(name);
        if at + 1 < names.len() {
            line.push_str(", ");
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_within_its_room_and_says_what_it_leaves_out() {
        let names: Vec<String> = (0..1000).map(|n| format!("database_{n}")).collect();
        let text = line("Databases", &names, "list_databases", 60);
        assert!(tokens::estimate(&text) < 80, "{text}");
        assert!(text.starts_with("Databases (1000): database_0, database_1, "), "{text}");
        assert!(text.ends_with("more, see list_databases\n"), "{text}");
        assert_eq!(line("Skills", &["a".into(), "b".into()], "list_skills", 60), "Skills (2): a, b\n");
    }
}
