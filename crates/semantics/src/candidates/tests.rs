//! Accuracy of the best candidate for questions over tables without declarations.

mod rows;

use prospector_connect::sql::Dialect;
use prospector_connect::table::{Column, ColumnType, ForeignKey, Table};

use super::*;

/// The minimum share of questions whose best candidate is the expected one.
const MIN_RIGHT: f64 = 0.9;

/// A catalog without an index, with the description of its database.
#[derive(Default)]
pub(super) struct Words(&'static str);

#[async_trait]
impl Glossary for Words {
    async fn find(&self, _question: &str, _named: &[&str]) -> Vocabulary {
        Vocabulary::default()
    }

    async fn define(&self, _question: &str) -> Vec<DefinedTerm> {
        Vec::new()
    }

    fn describe(&self, _database: &str) -> String {
        self.0.into()
    }
}

fn shop() -> Vec<Table> {
    let column = |name: &str, column_type: ColumnType, description: &str| Column {
        name: name.into(),
        column_type,
        primary_key: name == "id",
        nullable: ["place_id", "email"].contains(&name),
        description: description.into(),
        ..Column::default()
    };
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
    let (number, text, day) = (ColumnType::Integer, ColumnType::Text, ColumnType::Date);
    vec![
        table("places", vec![column("id", number, ""), column("name", text, ""), column("region", text, "")], vec![]),
        table(
            "members",
            vec![
                column("id", number, ""),
                column("full_name", text, ""),
                column("email", text, ""),
                column("place_id", number, ""),
                column("joined_on", day, ""),
                column("age", number, ""),
                column("stat_cd", text, "status (values: A = active; L = left)"),
            ],
            vec![key("place_id", "places")],
        ),
        table(
            "visits",
            vec![
                column("id", number, ""),
                column("member_id", number, ""),
                column("began", day, ""),
                column("cost_usd", number, ""),
            ],
            vec![key("member_id", "members")],
        ),
    ]
}

/// Films with yes/no columns, several dates, and a junction table.
fn cinema() -> Vec<Table> {
    let column = |name: &str, data_type: &str, column_type: ColumnType| Column {
        name: name.into(),
        data_type: data_type.into(),
        column_type,
        primary_key: name == "id",
        nullable: name == "returned_date",
        ..Column::default()
    };
    let number = |name: &str| column(name, "INTEGER", ColumnType::Integer);
    let text = |name: &str| column(name, "TEXT", ColumnType::Text);
    let day = |name: &str| column(name, "DATE", ColumnType::Date);
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
    let flag = column("is_restored", "BOOLEAN", ColumnType::Integer);
    vec![
        table("film", vec![number("id"), text("title"), number("length"), number("list_price"), flag], vec![]),
        table("genre", vec![number("id"), text("name")], vec![]),
        table(
            "film_genre",
            vec![number("film_id"), number("genre_id")],
            vec![key("film_id", "film"), key("genre_id", "genre")],
        ),
        table(
            "rental",
            vec![number("id"), number("film_id"), day("rental_date"), day("returned_date"), day("last_update")],
            vec![key("film_id", "film")],
        ),
    ]
}

fn list_over(database: &str, tables: &[Table], values: Vec<NamedValue>, question: &str) -> Vec<Candidate> {
    let source = Tables { database, dialect: Dialect::Sqlite, tables };
    let ids = tables.iter().map(|table| format!("{database}.{}", table.name)).collect();
    let vocabulary = Vocabulary { tables: ids, values, ..Vocabulary::default() };
    let model = SemanticModel::default();
    let asked = Conversation::read(question, model.today(), &Words::default()).unwrap();
    list_candidates(&model, &asked, &vocabulary, &[source], &Words::default())
}

fn value(table: &str, column: &str, value: &str) -> NamedValue {
    NamedValue { table: table.into(), column: column.into(), value: value.into() }
}

fn list(question: &str) -> Vec<Candidate> {
    let values = [("name", "Rio"), ("name", "Oslo"), ("region", "North")];
    let values = values.map(|(column, text)| value("shop.places", column, text)).into();
    list_over("shop", &shop(), values, question)
}

#[test]
fn ranks_the_expected_candidate_first() {
    let cases = [
        ("How many members are there?", "number of members"),
        ("number of members", "number of members"),
        ("Wie viele members?", "number of members"),
        ("How many active members are there in Rio?", "number of members where stat cd is A and name of places is Rio"),
        ("How many members are there in Rio or Oslo?", "number of members where name of places is Rio or Oslo"),
        ("How many members are not in Rio?", "number of members where name of places is not Rio"),
        ("members by region", "number of members, by region of places"),
        ("members per place", "number of members, by name of places"),
        ("How many members are in each region?", "number of members, by region of places"),
        ("average age of members by place", "average age of members, by name of places"),
        ("cost by month", "total cost usd of visits, by month"),
        ("total cost in 2025", "total cost usd of visits, in 2025"),
        ("visits by month", "number of visits, by month"),
        ("monthly visits in 2024", "number of visits, in 2024, by month"),
        ("cost by region and month", "total cost usd of visits, by region of places and month"),
        ("Which place has the most members?", "number of members, by name of places, the 1 highest"),
        ("top 3 places by number of visits", "number of visits, by name of places, the 3 highest"),
        ("Which region has the fewest members?", "number of members, by region of places, the 1 lowest"),
        ("How many members have an age of at least 40?", "number of members where age is at least 40"),
        (
            "How many members have an age between 30 and 40?",
            "number of members where age is at least 30 and age is at most 40",
        ),
        ("How many members are older than 40?", "number of members where age is above 40"),
        ("How many visits have a cost of 20 or more?", "number of visits where cost usd is at least 20"),
        ("How many visits have a cost of 20 or below?", "number of visits where cost usd is at most 20"),
        ("How many members are in the North region?", "number of members where region of places is North"),
        ("How many North are there?", "number of places where region is North"),
        ("How many members have no email?", "number of members where email is empty"),
        ("members without an email", "list of members where email is empty"),
        ("How many members have no visits?", "number of members without any visits"),
        ("members who never had visits", "list of members without any visits"),
        ("How many members with visits in 2025?", "number of members with visits, in 2025"),
        ("List the members in Oslo", "list of members where name of places is Oslo"),
        ("the last 5 visits", "5 visits with the highest began"),
        ("What share of members is active?", "share of members where stat cd is A"),
        ("How many members are there? And in Rio?", "number of members where name of places is Rio"),
        ("members by region? And by month?", "number of members, by region of places and month"),
        ("visits by month? Only in 2025?", "number of visits, in 2025, by month"),
        ("How many members are there in total?", "number of members"),
        ("How did visits develop from 2023 to 2024?", "number of visits, in 2023 to 2024, by year"),
        ("trend of visits in 2024", "number of visits, in 2024, by month"),
        ("Show the members who joined in 2024", "list of members, in 2024"),
    ];
    check(&cases, list);
}

#[test]
fn understands_several_measures_and_conditions_on_counts() {
    let cases = [
        ("minimum and maximum age of members", "lowest age and highest age of members"),
        ("number of visits and average cost", "number and average cost usd of visits"),
        ("How many members have more than 3 visits?", "number of members with more than 3 visits"),
        ("How many members have 3 or more visits?", "number of members with at least 3 visits"),
        ("average number of visits per member", "average number of visits for each member id"),
        ("number of members and visits", "number of members and number of visits"),
    ];
    check(&cases, list);
}

#[test]
fn understands_flags_degrees_dates_and_junction_tables() {
    let cases = [
        ("How many restored films are there?", "number of film where is restored is 1"),
        ("How many films are restored?", "number of film where is restored is 1"),
        ("Which film is the longest?", "film with the highest length"),
        ("the 5 longest films", "5 film with the highest length"),
        ("the three biggest films and their length", "3 film with the highest length"),
        ("What are the longest five films?", "5 film with the highest length"),
        ("How many horror films are there?", "number of film with film genre whose name of genre is Horror"),
        ("List the films of the genre Horror", "list of film with film genre whose name of genre is Horror"),
        ("How many rentals were there in 2024?", "number of rental, in 2024"),
        ("rentals by month", "number of rental, by month"),
        ("How many rentals were returned?", "number of rental where returned date is not empty"),
        ("average list price of films", "average list price of film"),
        ("How many films have a length of more than 1,200?", "number of film where length is above 1200"),
        ("How many films have 90 length?", "number of film where length is 90"),
        ("average number of length per film", "average length of film"),
        ("How many titles are there?", "number of film"),
        ("cinema club rentals by year", "number of rental, by year"),
    ];
    check(&cases, |question| {
        list_over("cinema_rental", &cinema(), vec![value("cinema_rental.genre", "name", "Horror")], question)
    });
}

fn check(cases: &[(&str, &str)], list: impl Fn(&str) -> Vec<Candidate>) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(question, expected)| {
            let found = list(question).into_iter().next().map(|candidate| candidate.text);
            (found.as_deref() != Some(*expected)).then(|| format!("{question}: {found:?} instead of {expected}"))
        })
        .collect();
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() as f64 <= (1.0 - MIN_RIGHT) * cases.len() as f64, "{}", wrong.join("\n"));
}

#[test]
fn ranks_what_is_counted_by_another_table() {
    let cases = [
        ("the 3 most visited members", "number of visits, by full name of members, the 3 highest"),
        ("members with the most visits, top 3", "number of visits, by full name of members, the 3 highest"),
        ("Which members have the most visits?", "number of visits, by full name of members, the 1 highest"),
    ];
    check(&cases, list);
}

/// Visits are of a member and of a place; members have a place, too.
#[test]
fn offers_each_key_that_tables_can_be_joined_by() {
    let mut tables = shop();
    let visits = &mut tables[2];
    visits.columns.push(Column { name: "door_id".into(), column_type: ColumnType::Integer, ..Column::default() });
    visits.foreign_keys.push(ForeignKey {
        columns: vec!["door_id".into()],
        table: "doors".into(),
        references: vec!["id".into()],
    });
    let mut doors = tables[0].clone();
    doors.name = "doors".into();
    doors.columns[1].name = "place_id".into();
    doors.foreign_keys = tables[1].foreign_keys.clone();
    tables.push(doors);
    let list = |question: &str| list_over("shop", &tables, Vec::new(), question);
    let found = list("How many visits are there by name of places?");
    let texts: Vec<&str> = found.iter().take(2).map(|one| one.text.as_str()).collect();
    let by = |table: &str| format!("number of visits, joined by place id of {table}, by name of places");
    assert_eq!(texts, [by("members"), by("doors")]);
    assert_eq!(found[0].score, found[1].score);
    for (one, table) in found.iter().zip(["members", "doors"]) {
        let CandidateQuery::Metrics { model, .. } = &one.query else { panic!("{one:?}") };
        assert_eq!(model.dimensions()[0].via, [format!("{table}.place_id")]);
    }
    let found = list("How many visits of members with an age above 40 are there by name of places?").remove(0);
    assert!(found.text.contains("joined by place id of members"), "{}", found.text);
    let rows = list("List the visits with the name of their place").remove(0);
    let CandidateQuery::Sql { sql, .. } = rows.query else { panic!("{rows:?}") };
    assert!(sql.contains("LEFT JOIN \"shop\".\"places\" AS t0 ON t1.\"place_id\" = t0.\"id\""), "{sql}");
}

#[test]
fn reports_tables_that_nothing_connects() {
    let mut tables = shop();
    let apart = |tables: &[Table]| {
        let found = list_over("shop", tables, Vec::new(), "number of members by region");
        found.into_iter().find(|one| one.text == "number of members").and_then(|one| one.apart)
    };
    assert_eq!(apart(&tables), None);
    tables[1].foreign_keys.clear();
    assert_eq!(apart(&tables), Some(("members".into(), "places".into())));
}

#[test]
fn reports_uncovered_words() {
    let best = list("How many unicorn members are there in Rio?").remove(0);
    assert_eq!(
        (best.text.as_str(), best.unused),
        ("number of members where name of places is Rio", vec!["unicorn".to_owned()])
    );
    assert!(best.score < 0.9, "{}", best.score);
}

/// `driver_truck` has the key `truck_id`, but the table `truck` has the whole name.
#[test]
fn prefers_the_table_of_that_name_to_one_with_such_a_key() {
    let column = |name: &str, primary_key: bool| Column { name: name.into(), primary_key, ..Column::default() };
    let table = |name: &str, columns: Vec<Column>| Table { name: name.into(), columns, ..Table::default() };
    let drivers = table("driver_truck", vec![column("truck_id", true), column("driver", false)]);
    let trucks = table("truck", vec![column("id", true), column("plate", false)]);
    let both = [drivers.clone(), trucks];
    let found = list_over("fleet", &both, Vec::new(), "How many trucks are there?");
    let scores: Vec<(&str, f64)> = found.iter().map(|one| (one.text.as_str(), one.score)).collect();
    assert_eq!(scores[0].0, "number of truck", "{scores:?}");
    let other = scores.iter().find(|(text, _)| *text == "number of driver truck").map_or(0.0, |(_, score)| *score);
    assert!(scores[0].1 - other > 0.05, "{scores:?}");
    // Without such a table, the key names the rows.
    let found = list_over("fleet", &[drivers], Vec::new(), "How many trucks are there?");
    assert!(found[0].text == "number of driver truck" && found[0].score > 0.9, "{found:?}");
}

#[test]
fn uncovered_words_are_spelled_as_in_the_question() {
    for (question, expected) in [
        ("How many members have the heaviest unicorns?", vec!["heaviest", "unicorns"]),
        ("How many members have unicorn_size?", vec!["unicorn_size"]),
        ("How many Unicorns/Dragons do members have?", vec!["Unicorns", "Dragons"]),
    ] {
        let best = list(question).remove(0);
        assert_eq!(best.unused, expected, "{question}: {}", best.text);
    }
}

#[test]
fn counts_referencing_rows_once() {
    let found = list("How many members have no visits?").remove(0);
    let CandidateQuery::Sql { sql, tables, .. } = found.query else { panic!("{found:?}") };
    assert_eq!(
        sql,
        "SELECT COUNT(*) AS \"number_of_members\" FROM \"shop\".\"members\" AS t1 WHERE NOT EXISTS \
         (SELECT 1 FROM \"shop\".\"visits\" AS t2 WHERE t2.\"member_id\" = t1.\"id\")"
    );
    assert_eq!(tables, ["shop.members", "shop.visits"]);
}

#[test]
fn a_period_applies_to_the_table_named_before_it() {
    let cases = [
        ("How many members had no visits in 2024?", "t2.\"began\" >= '2024-01-01'"),
        ("How many members without visits in 2024?", "t2.\"began\" >= '2024-01-01'"),
        ("How many members joined in 2024 have no visits?", "t1.\"joined_on\" >= '2024-01-01'"),
        ("How many members who joined in 2024 have never had a visit?", "t1.\"joined_on\" >= '2024-01-01'"),
        ("How many members in 2024 have no visits?", "t1.\"joined_on\" >= '2024-01-01'"),
        ("How many members who joined in 2024 have more than one visit?", "t1.\"joined_on\" >= '2024-01-01'"),
    ];
    let wrong = cases.iter().filter(|(question, condition)| {
        let best = list(question).into_iter().next().map(|found| found.query);
        let sql = if let Some(CandidateQuery::Sql { sql, .. }) = best { sql } else { String::new() };
        println!("{question}: {sql}");
        !sql.contains(condition) || sql.matches("2024-01-01").count() != 1
    });
    assert_eq!(wrong.count(), 0);
}

/// A description lists what a database contains; one of its words is no reference to the database.
#[test]
fn words_of_a_description_are_not_covered_by_it() {
    let words = Words("Members of the city gym and their sauna");
    let tables = shop();
    let read = |question: &str| {
        let source = Tables { database: "shop", dialect: Dialect::Sqlite, tables: &tables };
        let vocabulary = Vocabulary { tables: vec!["shop.members".into()], ..Vocabulary::default() };
        let model = SemanticModel::default();
        let asked = Conversation::read(question, model.today(), &words).unwrap();
        list_candidates(&model, &asked, &vocabulary, &[source], &words).remove(0).unused
    };
    assert_eq!(read("How many members are in the sauna?"), ["sauna"]);
    assert_eq!(read("How many members does the city gym have?"), Vec::<String>::new());
}

#[test]
fn rows_without_a_name_are_not_ranked() {
    let is_not_null = |question: &str| format!("{:?}", list(question).remove(0).query).contains("op: Neq, value: Null");
    assert!(is_not_null("Which place has the fewest members?"));
    assert!(is_not_null("top 3 places by number of members"));
    assert!(!is_not_null("number of members by place"));
    let best = list("Which place has the most members without visits?").remove(0).query;
    assert!(matches!(best, CandidateQuery::Sql { sql, .. } if sql.contains("\"name\" IS NOT NULL")));
}
