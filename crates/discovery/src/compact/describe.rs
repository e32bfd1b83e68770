//! `describe`: several things at once, of any kind.

use std::sync::Arc;

use futures::future::join_all;
use prospector_core::{Answer, BoxFuture, Callable, Resource, ResourceKind, ToolError, ToolSpec, tokens::estimate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    joined,
    things::{Thing, Things},
};

pub(super) const NAME: &str = "describe";

/// More ids are left out.
const MOST: usize = 40;

/// So many that not even what is left out can be told are refused.
const MAX_IDS: usize = 500;

/// A thing that would get less room is left out.
const LEAST: usize = 80;

/// What the label of an item takes besides its id.
const LABEL: usize = 20;

/// The forms of ids, and the tool that the full set has where there are such things.
const IDS: [(&str, &str); 5] = [
    ("list_databases", "database, database.table, database.table#col* (these columns), database.table>table (joins), "),
    ("list_apis", "api, api.operation, api.operation#part, "),
    ("list_documents", "document, document#section, "),
    ("list_skills", "skill, skill#file, "),
    ("list_known_facts", "a fact's term"),
];

/// The tool.
pub(super) struct Describe {
    things: Arc<Things>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What [`IDS`] says.
    ids: Vec<String>,
    /// With statistics and sample values.
    values: Option<bool>,
    /// Chooses columns of wide tables.
    query: Option<String>,
}

impl Describe {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let description = "Shows things in full. Pass all ids at once.";
        let mut spec = ToolSpec::new::<Args>(NAME, description);
        let forms: String = IDS.iter().filter(|(tool, _)| things.has(tool)).map(|(_, form)| *form).collect();
        let fields = &mut spec.input_schema["properties"];
        fields["ids"]["description"] = forms.into();
        if !things.has("list_databases")
            && let Some(fields) = fields.as_object_mut()
        {
            fields.retain(|field, _| field == "ids");
        }
        Describe { things: things.clone(), spec }
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let mut ids: Vec<String> = Vec::new();
        if args.ids.len() > MAX_IDS {
            let reason = format!("ids has {} entries; at most {MAX_IDS} are read", args.ids.len());
            return Err(ToolError::invalid(reason, Some(format!("pass {MOST} at a time"))));
        }
        for id in args.ids.iter().map(|id| id.trim().to_owned()) {
            if !id.is_empty() && !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            return Err(ToolError::invalid("ids is empty", Some("pass ids that search or list gave".into())));
        }
        let mut left_out: Vec<String> = ids.split_off(ids.len().min(MOST));
        let mut wanted: Vec<(String, Option<Thing>)> = Vec::new();
        for id in ids {
            let things = self.things.named(&id);
            if things.is_empty() {
                wanted.push((id, None));
            } else {
                wanted.extend(things.into_iter().map(|thing| (id.clone(), Some(thing))));
            }
        }
        let (values, query) = (args.values, args.query.as_deref());
        let one = |id: String, thing: Option<Thing>, room: usize| async move {
            match thing {
                Some(thing) => self.show(&thing, values, query, room).await,
                None => Err(self.things.unknown(&id)),
            }
        };
        let whole = join_all(wanted.iter().map(|(id, thing)| one(id.clone(), thing.clone(), max_tokens))).await;
        if whole.iter().all(Result::is_err) {
            return whole.into_iter().next().unwrap_or_else(|| Err(self.things.unknown("")));
        }
        let sizes: Vec<usize> = (wanted.iter().zip(&whole))
            .map(|((id, _), answer)| {
                LABEL + estimate(id) + answer.as_ref().map_or(60, |answer| estimate(&answer.value.to_string()))
            })
            .collect();
        let rooms = shared(&sizes, max_tokens);
        let mut answered = Vec::new();
        for (((id, thing), answer), (size, room)) in wanted.into_iter().zip(whole).zip(sizes.into_iter().zip(rooms)) {
            let kind = thing.as_ref().map(Thing::kind);
            let answer = if size <= room {
                answer
            } else if room < LEAST {
                left_out.push(id);
                continue;
            } else {
                one(id.clone(), thing, room - LABEL - estimate(&id)).await
            };
            match answer {
                Ok(answer) => answered.push((json!({"kind": kind, "id": id}), answer)),
                Err(error @ ToolError::Fatal { .. }) => return Err(error),
                // The text names the id, for its message may not.
                Err(error) => {
                    let mut said = json!({"id": id});
                    if let (Some(said), Value::Object(error)) = (said.as_object_mut(), error.to_json()) {
                        said.extend(error);
                    }
                    answered.push((json!({"id": id}), Answer::new(said, Vec::new())));
                }
            }
        }
        left_out.dedup();
        Ok(joined(answered, left_out))
    }

    /// What the tool of its family says of a thing.
    async fn show(
        &self,
        thing: &Thing,
        values: Option<bool>,
        query: Option<&str>,
        room: usize,
    ) -> Result<Answer, ToolError> {
        let call = |tool: &'static str, args: Value| self.things.call(tool, args, room);
        match thing {
            Thing::Database(name) => {
                let tables = call("list_tables", json!({"database": name})).await?;
                let database = self.things.schema.database(name);
                let about = json!({"database": name, "type": database.map(|database| &database.kind),
                                   "description": database.map(|database| &database.description)});
                Ok(headed(about, "tables", tables))
            }
            Thing::Api(name) => {
                let operations = call("list_api_operations", json!({"api": name})).await?;
                let api = self.things.apis.api(name)?;
                let about = json!({"api": name, "type": api.kind, "url": api.url, "description": api.description});
                Ok(headed(about, "operations", operations))
            }
            Thing::Table { database, table } => {
                let fields = json!({"database": database, "table": table, "values": values, "query": query});
                call("get_table_schema", fields).await
            }
            Thing::Columns { database, table, columns } => {
                let fields = json!({"database": database, "table": table, "values": values, "columns": columns});
                call("get_table_schema", fields).await
            }
            Thing::Path { database, table, to } => {
                call("get_table_relationships", json!({"database": database, "table": table, "to": to})).await
            }
            Thing::Operation { api, operation, part } => {
                call("get_operation_details", json!({"api": api, "operation": operation, "part": part})).await
            }
            Thing::Document(name) => call("get_document", json!({"name": name})).await,
            Thing::Section { document, section } => {
                call("get_document_section", json!({"name": document, "section": section})).await
            }
            Thing::Skill(name) => call("get_skill", json!({"name": name})).await,
            Thing::File { skill, target } => call("resolve_skill_link", json!({"name": skill, "target": target})).await,
            Thing::Fact(term) => {
                let mut answer = call("list_known_facts", json!({"contains": term})).await?;
                let all = answer.value.as_array().or_else(|| answer.value["items"].as_array());
                let own: Vec<Value> =
                    all.into_iter().flatten().filter(|fact| fact["term"] == **term).cloned().collect();
                if !own.is_empty() {
                    answer = Answer::new(own.into(), vec![Resource::new(ResourceKind::Fact, term.clone())]);
                }
                Ok(answer)
            }
        }
    }
}

/// A list under what is said of its owner; fields that are empty are left out.
fn headed(mut about: Value, key: &str, list: Answer) -> Answer {
    if let Some(fields) = about.as_object_mut() {
        fields.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
        fields.insert(key.to_owned(), list.value);
    }
    Answer::new(about, list.reveals)
}

/// How much room each of these sizes gets: what it needs, or an equal share of what the small ones leave. What would get
/// too little gets nothing, from the last on.
fn shared(sizes: &[usize], room: usize) -> Vec<usize> {
    let mut kept = sizes.len();
    loop {
        let mut rooms: Vec<usize> = vec![0; sizes.len()];
        let (mut left, mut open): (usize, Vec<usize>) = (room, (0..kept).collect());
        loop {
            let share = left / open.len().max(1);
            let fits: Vec<usize> = open.iter().copied().filter(|at| sizes[*at] <= share).collect();
            if fits.is_empty() {
                open.iter().for_each(|at| rooms[*at] = share);
                break;
            }
            for at in fits {
                rooms[at] = sizes[at];
                left -= sizes[at];
                open.retain(|other| *other != at);
            }
        }
        let starved = (0..kept).any(|at| rooms[at] < sizes[at] && rooms[at] < LEAST);
        if !starved || kept <= 1 {
            return rooms;
        }
        kept -= 1;
    }
}

impl Callable for Describe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move { self.answer(self.spec.arguments(args)?, max_tokens).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[usize], room: usize, expected: &[usize]) {
        assert_eq!(shared(sizes, room), expected);
    }

    #[test]
    fn the_room_is_shared_and_the_first_come_first() {
        check(&[100, 200], 1_000, &[100, 200]);
        check(&[5_000, 100, 5_000], 1_000, &[450, 100, 450]);
        check(&[500; 4], 200, &[100, 100, 0, 0]);
        check(&[500], 50, &[50]);
        check(&[], 50, &[]);
    }
}
