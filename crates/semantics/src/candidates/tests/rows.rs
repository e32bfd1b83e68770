//! Which rows a question asks for, and how they are distinguished.

use super::*;
use crate::model::{Declarations, Entity, Join};

/// An animal clinic, with participles, yes/no columns and several tables that refer to one.
fn clinic() -> Vec<Table> {
    let column = |name: &str, column_type: ColumnType| Column {
        name: name.into(),
        column_type,
        primary_key: name == "id",
        nullable: ["chip_no", "left_on", "paid_on", "closed_on"].contains(&name),
        ..Column::default()
    };
    let number = |name: &str| column(name, ColumnType::Integer);
    let text = |name: &str| column(name, ColumnType::Text);
    let day = |name: &str| column(name, ColumnType::Date);
    let key = |column: &str, table: &str| ForeignKey {
        columns: vec![column.into()],
        table: table.into(),
        references: vec!["id".into()],
    };
    let table = |name: &str, columns: Vec<Column>, foreign_keys: Vec<ForeignKey>| Table {
        name: name.into(),
        columns,
        foreign_keys,
        ..Table::default()
    };
    let pets = vec![
        number("id"),
        number("owner_id"),
        text("pet_name"),
        text("species"),
        number("weight_kg"),
        text("chip_no"),
        column("is_insured", ColumnType::Boolean),
    ];
    let complaints = vec![number("id"), number("owner_id"), day("opened_on"), day("closed_on")];
    vec![
        table("owners", vec![number("id"), text("full_name"), text("city")], vec![]),
        table("pets", pets, vec![key("owner_id", "owners")]),
        table("rx", vec![number("id"), number("pet_id"), text("drug")], vec![key("pet_id", "pets")]),
        table("vets", vec![number("id"), text("full_name"), day("left_on")], vec![]),
        table(
            "fines",
            vec![number("id"), number("owner_id"), number("amount"), day("issued_on"), day("paid_on")],
            vec![key("owner_id", "owners")],
        ),
        table("complaints", complaints, vec![key("owner_id", "owners")]),
    ]
}

fn list_in_clinic(question: &str) -> Vec<Candidate> {
    let values = [("species", "dog"), ("species", "parrot")].map(|(column, text)| value("clinic.pets", column, text));
    list_over("clinic", &clinic(), values.into(), question)
}

#[test]
fn asks_for_the_rows_that_a_question_names() {
    let cases = [
        ("How many dogs have an rx?", "number of pets with rx where species is dog"),
        ("Which parrots are insured?", "list of pets where species is parrot and is insured is true"),
        ("Which vets have left?", "list of vets where left on is not empty"),
        ("List the complaints with closed on", "list of complaints"),
        ("How many unpaid fines are there?", "number of fines where paid on is empty"),
        ("Which complaints are open?", "list of complaints where closed on is empty"),
        ("How many owners have an rx?", "number of owners with rx"),
        ("How many owners have insured pets?", "number of owners with pets whose is insured of pets is true"),
        ("Which pets are insured?", "list of pets where is insured is true"),
        ("How many uninsured dogs are there?", "number of pets where is insured is not true and species is dog"),
        ("Which owners have no insured pets?", "list of owners without any pets whose is insured of pets is true"),
        ("What share of pets has a chip?", "share of pets where chip no is not empty"),
        ("What share of dogs has an rx?", "share of pets with rx, among those where species is dog"),
        (
            "What percentage of insured pets have a chip?",
            "share of pets where chip no is not empty, among those where is insured is true",
        ),
        ("How many owners have fines since 2024?", "number of owners with fines, from 2024-01-01"),
        ("Top 5 owners by total fine amount", "total amount of fines, by full name of owners, the 5 highest"),
        ("top 3 cities by fine amount", "total amount of fines, by city of owners, the 3 highest"),
        ("How many pets with a weight are there?", "number of pets where weight kg is above 0"),
        ("Which owners never had an insured pet?", "list of owners without any pets whose is insured of pets is true"),
        ("How many different drugs are there?", "number of different drug of rx"),
        ("the complaint with the earliest closed on", "complaints with the lowest closed on"),
        ("fines issued between March and May 2025", "number of fines, issued on, in March to May 2025"),
        ("Which month had the most fines issued?", "number of fines, issued on, by month, the 1 highest"),
        ("average amount of fines, by city of owners", "average amount of fines, by city of owners"),
        ("the 3 largest fines", "3 fines with the highest amount"),
        ("Which owner has the largest fine?", "fines with the highest amount"),
        ("Which owner has the most fines?", "number of fines, by full name of owners, the 1 highest"),
        ("Which is the heaviest dog?", "pets with the highest weight kg where species is dog"),
        ("average fine", "average amount of fines"),
        ("How many dogs have a weight above 5 kg?", "number of pets where species is dog and weight kg is above 5"),
        ("Fines issued in Q1 2024 versus Q1 2025", "number of fines, issued on, in Q1 2024 and in Q1 2025, by quarter"),
    ];
    check(&cases, list_in_clinic);
}

/// A stored value is what its word means, although the opposite of a date of the table has the same name.
#[test]
fn a_stored_value_precedes_the_opposite_of_a_column() {
    let mut tables = clinic();
    let complaints = tables.iter_mut().find(|table| table.name == "complaints").unwrap();
    complaints.columns.retain(|column| column.name != "opened_on");
    complaints.columns.push(Column { name: "state".into(), column_type: ColumnType::Text, ..Column::default() });
    let values = vec![value("clinic.complaints", "state", "open")];
    let found = list_over("clinic", &tables, values, "Which complaints are open?").remove(0);
    assert_eq!(found.text, "list of complaints where state is open");
}

/// `our best owners` may be those with the most pets, fines or complaints: none is computed without a question.
#[test]
fn rankings_without_a_measure_are_choices() {
    let found = list_in_clinic("Which are our best owners?");
    let ranked: Vec<&Candidate> = found.iter().filter(|one| one.text.ends_with("the 1 highest")).collect();
    assert_eq!(ranked.len(), 3, "{ranked:?}");
    assert!(ranked.iter().all(|one| one.score < ACCEPT), "{ranked:?}");
    let other = list_in_clinic("Which owner has the most pets?").remove(0);
    assert!(other.score >= ACCEPT && other.text.starts_with("number of pets, by full name of owners"), "{other:?}");
}

/// Columns of files are no primary keys: the key is declared, and two customers may have one name.
#[test]
fn rows_of_files_are_distinguished_by_their_declared_key() {
    let column =
        |name: &str, column_type| Column { name: name.into(), column_type, nullable: true, ..Column::default() };
    let (number, text) = (ColumnType::Integer, ColumnType::Text);
    let table = |name: &str, columns: Vec<Column>| Table { name: name.into(), columns, ..Table::default() };
    let customers = table("customers", vec![column("customer_id", number), column("name", text)]);
    let orders = [column("order_id", number), column("customer_id", number), column("amount", number)];
    let tables = [customers, table("orders", orders.into())];
    let entity = |name: &str, key: &str| Entity {
        name: name.into(),
        database: "shop".into(),
        table: name.into(),
        key: vec![key.into()],
        ..Entity::default()
    };
    let key = vec!["customer_id".to_owned()];
    let (columns, references) = (key.clone(), key);
    let join = Join { from: "orders".into(), to: "customers".into(), columns, references, ..Join::default() };
    let entities = vec![entity("customers", "customer_id"), entity("orders", "order_id")];
    let model = SemanticModel::of(Declarations { entities, joins: vec![join], ..Declarations::default() });
    let ids = vec!["shop.customers".to_owned(), "shop.orders".to_owned()];
    let vocabulary = Vocabulary { tables: ids, ..Vocabulary::default() };
    let source = Tables { database: "shop", dialect: Dialect::Sqlite, tables: &tables };
    let asked = Conversation::read("total amount by customer", model.today(), &Words::default()).unwrap();
    let best = list_candidates(&model, &asked, &vocabulary, &[source], &Words::default()).remove(0);
    let CandidateQuery::Metrics { model, .. } = &best.query else { panic!("{best:?}") };
    assert_eq!(model.dimensions()[0].keys, ["\"customer_id\""], "{}", best.text);
}

#[test]
fn halves_are_not_added_up() {
    let found = list_in_clinic("fines issued in the first half of 2025 versus the second half of 2025").remove(0);
    assert!(!found.unused.is_empty(), "{found:?}");
}
