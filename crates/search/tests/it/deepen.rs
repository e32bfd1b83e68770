//! Records are encoded in the background: a search uses transformer vectors for all candidates of a question or for none.

use std::{path::Path, sync::Arc};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::ranking::NAMES;
use prospector_search::{Index, Query, StaticTable};

fn section(id: &str, body: &str) -> Record {
    let mut record = Record::new(Kind::Document, id, id);
    record.parent = "handbook".into();
    record.body = body.into();
    record
}

fn sections() -> Vec<Record> {
    vec![
        section("leave", "Anyone who expects a child gets paid time off for sixteen weeks."),
        section("travel", "Trains are booked by the office; receipts are kept for a year."),
        section("machines", "A broken laptop is replaced on the same day."),
    ]
}

fn open(folder: &Path) -> Index {
    Index::open(folder, Some(Arc::new(StaticTable::shipped().unwrap()))).unwrap()
}

/// Returns the transformer similarity of each candidate to the question.
fn meanings(index: &Index, question: &str) -> Vec<(String, f32)> {
    let at = NAMES.iter().position(|name| *name == "meaning").unwrap();
    let candidates = index.candidates(question, Kind::Document).unwrap();
    candidates.into_iter().map(|(hit, values)| (hit.id, values[at])).collect()
}

#[test]
fn uses_the_transformer_once_all_candidates_are_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    index.refresh(sections(), &|_, _| ()).unwrap();
    let question = "parental vacation of an employee";
    assert!(meanings(&index, question).iter().all(|(_, near)| *near == 0.0));
    assert_eq!(index.deepen(&|_, _| ()).unwrap(), 3);
    assert_eq!(index.deepen(&|_, _| ()).unwrap(), 0, "what was read is not read again");
    let nearest = |index: &Index| -> Vec<String> {
        let nearest = meanings(index, question).into_iter().filter(|(_, near)| *near == 0.0);
        nearest.map(|(id, _)| id).collect()
    };
    assert_eq!(nearest(&index), ["leave"]);
    let query = Query { text: question.into(), limit: 3, ..Query::default() };
    assert_eq!(index.rank(&query).unwrap()[0].id, "leave");

    // While one record is not encoded, no transformer similarity is used.
    let mut more = sections();
    more.push(section("canteen", "Lunch is served from noon to two."));
    index.refresh(more.clone(), &|_, _| ()).unwrap();
    assert!(meanings(&index, question).iter().all(|(_, near)| *near == 0.0));
    assert_eq!(index.deepen(&|_, _| ()).unwrap(), 1);
    assert_eq!(nearest(&index), ["leave"]);

    // The vectors outlive the process and the index.
    let other = open(folder.path());
    assert_eq!(nearest(&other), ["leave"]);
    other.rebuild(more, &|_, _| ()).unwrap();
    assert_eq!(nearest(&other), ["leave"]);
}

#[tokio::test]
async fn incremental_deepening_is_equivalent() {
    let many: Vec<Record> =
        (0..20).map(|at| section(&format!("page {at}"), &format!("Rule {at} of the house."))).collect();
    let whole = Index::in_memory(many.clone(), Some(Arc::new(StaticTable::shipped().unwrap()))).unwrap();
    let pieces = Index::in_memory(many, Some(Arc::new(StaticTable::shipped().unwrap()))).unwrap();
    assert_eq!(whole.deepen(&|_, _| ()).unwrap(), 20);
    let mut steps = Vec::new();
    while steps.last() != Some(&0) {
        steps.push(pieces.deepen_a_little().await.unwrap());
    }
    assert_eq!((steps.iter().sum::<usize>(), steps.len()), (20, 4));
    assert_eq!(meanings(&whole, "the seventh rule"), meanings(&pieces, "the seventh rule"));
}

#[test]
fn other_embedders_use_no_transformer() {
    let index = Index::in_memory(sections(), None).unwrap();
    assert_eq!(index.deepen(&|_, _| ()).unwrap(), 0);
}

#[test]
fn reports_and_recomputes_damaged_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    index.refresh(sections(), &|_, _| ()).unwrap();
    index.deepen(&|_, _| ()).unwrap();
    let question = "time off for parents";
    let good = meanings(&index, question);
    let path = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let path = path.into_iter().find(|path| path.to_string_lossy().contains("meanings")).unwrap();
    let whole = std::fs::read(&path).unwrap();
    // A header and three rows.
    let row = whole.len() / 4;
    let flip = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let truncate = |length: usize| whole[..length].to_vec();
    for (what, bytes, reread) in [
        ("a bit of a row", flip(row + 100), 1),
        ("a bit of the last checksum", flip(whole.len() - 1), 1),
        ("the last row is gone", truncate(3 * row), 1),
        ("the last row is not whole", truncate(whole.len() - 1), 1),
        ("every row is gone", truncate(row), 3),
        ("nothing is left", truncate(0), 3),
        ("a bit of the header", flip(20), 0),
    ] {
        std::fs::write(&path, bytes).unwrap();
        let damage = Index::examine(folder.path()).unwrap().damage;
        assert!(damage.len() == 1 && damage[0].file == path, "{what}: {damage:?}");
        let other = open(folder.path());
        let near = meanings(&other, question);
        assert!(near == good || reread > 0 && near.iter().all(|(_, near)| *near == 0.0), "{what}: {near:?}");
        assert_eq!(other.deepen(&|_, _| ()).unwrap(), reread, "{what}");
        assert_eq!(meanings(&other, question), good, "{what}");
        assert_eq!(Index::examine(folder.path()).unwrap().damage, [], "{what}");
    }
}
