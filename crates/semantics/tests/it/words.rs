//! Questions in words over tables that declare nothing: what is read of them, and what is not.

use prospector_connect::sql::Dialect;
use prospector_connect::table::{Column, ColumnType, ForeignKey, Table};
use prospector_semantics::reading::{NamedValue, Vocabulary};
use prospector_semantics::{SemanticModel, Tables};
use serde_json::json;

fn during(from: &str, to: &str) -> serde_json::Value {
    json!([{"column": "time", "op": "gte", "value": from}, {"column": "time", "op": "lt", "value": to}])
}

fn shop() -> Vec<Table> {
    let column = |name: &str, column_type: ColumnType, description: &str| Column {
        name: name.into(),
        column_type,
        primary_key: name == "id",
        nullable: name == "place_id",
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
            "people",
            vec![
                column("id", number, ""),
                column("full_name", text, ""),
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
                column("person_id", number, ""),
                column("began", day, ""),
                column("ended", day, ""),
                column("cost_usd", number, ""),
                column("tip_usd", number, ""),
            ],
            vec![key("person_id", "people")],
        ),
        table("films", vec![column("id", number, ""), column("title", text, ""), column("year", number, "")], vec![]),
    ]
}

/// Reads a question over the tables of a shop that declares nothing; `expected` is the question over what it implies.
fn check(question: &str, expected: Result<serde_json::Value, &str>) {
    let tables = shop();
    let source = Tables { database: "shop", dialect: Dialect::Sqlite, tables: &tables };
    let value = |table: &str, column: &str, value: &str| NamedValue {
        table: format!("shop.{table}"),
        column: column.into(),
        value: value.into(),
    };
    let vocabulary = Vocabulary {
        tables: ["people", "visits", "films"].map(|table| format!("shop.{table}")).into(),
        values: vec![
            value("places", "name", "Rio"),
            value("places", "name", "Oslo"),
            value("places", "region", "North"),
        ],
    };
    let read = SemanticModel::default().read_tables(question, &vocabulary, &[source]);
    let read = read.map(|reading| serde_json::to_value(reading.query).unwrap());
    assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{question}");
}

#[test]
fn tables_are_read_where_no_metric_is_meant() {
    let is = |column: &str, value: &str| json!({"column": column, "op": "eq", "value": value});
    check("How many people are there?", Ok(json!({"metrics": ["number_of_people"]})));
    check(
        "How many active people live in Rio?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [is("stat_cd", "A"), is("places_name", "Rio")]})),
    );
    check(
        "How many people are there in Rio and Oslo?",
        Ok(json!({"metrics": ["number_of_people"],
            "filters": [{"column": "places_name", "op": "in", "value": ["Rio", "Oslo"]}]})),
    );
    check("average age of people by place", Ok(json!({"metrics": ["average_age"], "dimensions": ["places_name"]})));
    check(
        "Which place has the most people?",
        Ok(json!({"metrics": ["number_of_people"], "dimensions": ["places_name"],
            "order": [{"by": "number_of_people", "descending": true}, {"by": "places_name"}], "limit": 1, "ties": true})),
    );
    check(
        "top 3 places by number of visits",
        Ok(json!({"metrics": ["number_of_visits"], "dimensions": ["places_name"],
            "order": [{"by": "number_of_visits", "descending": true}, {"by": "places_name"}], "limit": 3})),
    );
    check(
        "How many people joined in 2025?",
        Ok(json!({"metrics": ["number_of_people"], "filters": during("2025-01-01", "2026-01-01")})),
    );
    check(
        "number of people per year in the North",
        Ok(json!({"metrics": ["number_of_people"], "filters": [is("region", "North")], "grain": "year"})),
    );
    check(
        "How many people have an age of at least 40?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [{"column": "age", "op": "gte", "value": 40}]})),
    );
    check(
        "How many films were there in 1999?",
        Ok(json!({"metrics": ["number_of_films"], "filters": [
            {"column": "films_year", "op": "gte", "value": 1999}, {"column": "films_year", "op": "lt", "value": 2000}]})),
    );
    check(
        "List the people in Oslo",
        Ok(
            json!({"metrics": ["number_of_people"], "dimensions": ["full_name"], "filters": [is("places_name", "Oslo")]}),
        ),
    );
    check(
        "How many people are there? And in Rio? What about Oslo?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [is("places_name", "Oslo")]})),
    );
}

#[test]
fn rows_are_ranked_compared_and_left_out() {
    check("people by region", Ok(json!({"metrics": ["number_of_people"], "dimensions": ["region"]})));
    check(
        "How many people are not in Rio?",
        Ok(
            json!({"metrics": ["number_of_people"], "filters": [{"column": "places_name", "op": "neq", "value": "Rio"}]}),
        ),
    );
    check(
        "How many people have an age between 30 and 40?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [
            {"column": "age", "op": "gte", "value": 30}, {"column": "age", "op": "lte", "value": 40}]})),
    );
    check(
        "How many people are there with an age of 30?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [{"column": "age", "op": "eq", "value": 30}]})),
    );
    check("When did the last people join?", Ok(json!({"metrics": ["last_joined_on"]})));
    check("When was the last of the people?", Ok(json!({"metrics": ["last_joined_on"]})));
    let cost = |limit: usize, ties: bool| {
        let mut read = json!({"metrics": ["highest_cost_usd"], "dimensions": ["visits_id"],
            "order": [{"by": "highest_cost_usd", "descending": true}, {"by": "visits_id"}], "limit": limit});
        if ties {
            read["ties"] = json!(true);
        }
        Ok(read)
    };
    check("Which is the most expensive visit?", cost(1, true));
    check("the three most expensive visits", cost(3, false));
    check(
        "How many people have no place?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [{"column": "place_id", "op": "eq", "value": null}]})),
    );
    check(
        "How many people have a place?",
        Ok(json!({"metrics": ["number_of_people"], "filters": [{"column": "place_id", "op": "neq", "value": null}]})),
    );
}

#[test]
fn what_tables_do_not_say_is_not_computed() {
    check("How many unicorns are there?", Err("what is meant by `unicorns`?"));
    check("How many people are there outside Rio and Oslo?", Err("what is meant by `Oslo`?"));
    check(
        "What is the average number of visits per place?",
        Err("an average, a maximum or a minimum of counts is not computed: ask for the counts themselves"),
    );
    check("How many people have no visits?", Err("`visits` is not known of people"));
    check("What is the longest visit?", Err("nothing is named that could be put in order"));
    check(
        "How many people have visits?",
        Err("each row of people may have several of visits, and would count once for each"),
    );
    check("How many films are there in Rio?", Err("`Rio` is not known of films"));
    check(
        "How many visits were there in 2025?",
        Err("a row of visits has several days, visits.began, visits.ended: say which is meant"),
    );
    check("How many places were there in 2025?", Err("the rows of places have no day"));
    check("total of visits", Err("`total` may be any of visits.cost_usd, visits.tip_usd"));
    check(
        "which place has the highest cost?",
        Err("say whether the total, the average, the highest or the lowest is wanted"),
    );
    check(
        "How many people are there? Only in Rio? Only in Oslo?",
        Err("the question before asks for Rio already: ask it in full"),
    );
    check(
        "How many people are there by place? By year?",
        Err("it goes on from the question before in a way that I do not follow: ask it in full"),
    );
}
