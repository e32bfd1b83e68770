//! `describe`: details of several entries of any kind.

use std::sync::Arc;

use futures::future::join_all;
use prospector_api::Api;
use prospector_connect::sql::Dialect;
use prospector_core::record::Resource;
use prospector_core::tokens::estimate;
use prospector_core::tool::{Answer, Budget, Cut, Text, ToolError, ToolOutput, ToolSpec, compact};
use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::CompactTool;
use crate::Catalog;
use crate::target::{Detail, Target, TargetResolver};

/// Maximum number of ids that are described; the others are omitted.
const MAX_DESCRIBED: usize = 40;

/// Maximum number of ids in a call, so that omitted ids can still be listed.
const MAX_IDS: usize = 500;

/// Entries with less room than this are omitted, in tokens.
const MIN_ROOM: usize = 80;

/// Estimated tokens of the label of an item, without its id.
const LABEL: usize = 20;

/// Estimated tokens of an error.
const ERROR: usize = 60;

/// How to get the rest of a truncated answer.
const MORE: &str = "call again with a larger max_tokens";

/// What is returned of each kind of entry and the forms of its ids, with the tool that the full set has if such entries exist.
const ENTRIES: [(&str, &str, &str); 7] = [
    (
        "list_databases",
        "the schema of tables (columns, types, keys)",
        "database, database.table, database.table#col* (these columns), database.table>table (joins), ",
    ),
    ("list_apis", "the parameters of API operations", "api, api.operation, api.operation#part, "),
    ("list_documents", "the sections of documents", "document, document#section, "),
    ("list_skills", "the instructions of skills", "skill, skill#file, "),
    (SemanticModel::LIST_TOOL, "metrics", "metric, "),
    (VerifiedQueries::LIST_TOOL, "verified queries", "verified query, "),
    ("list_known_facts", "facts", "a fact's term"),
];

/// The tool.
pub(super) struct Describe(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Replaced by the forms in [`ENTRIES`].
    ids: Vec<String>,
    /// Include statistics and sample values.
    values: Option<bool>,
    /// The question; selects the columns of wide tables.
    query: Option<String>,
}

impl CompactTool for Describe {
    const NAME: &'static str = "describe";
    type Args = Args;

    fn describe(&self) -> ToolSpec {
        let targets = &self.0;
        let there: Vec<_> = ENTRIES.iter().filter(|(tool, ..)| targets.has(tool)).collect();
        let details: Vec<&str> = there.iter().map(|(_, details, _)| *details).collect();
        let description =
            format!("Returns the details of catalog entries: {}. Pass all ids in one call.", details.join(", "));
        let mut spec = ToolSpec::new::<Args>(Self::NAME, &description);
        let forms: String = there.iter().map(|(_, _, form)| *form).collect();
        let fields = &mut spec.input_schema["properties"];
        fields["ids"]["description"] = forms.into();
        if !targets.has("list_databases")
            && let Some(fields) = fields.as_object_mut()
        {
            fields.retain(|field, _| field == "ids");
        }
        if !targets.catalog.schema.has_data()
            && let Some(fields) = fields.as_object_mut()
        {
            fields.shift_remove("values");
        }
        spec
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let mut ids: Vec<String> = Vec::new();
        if args.ids.len() > MAX_IDS {
            let reason = format!("ids has {} entries; at most {MAX_IDS} are accepted", args.ids.len());
            return Err(ToolError::invalid(reason, Some(format!("pass {MAX_DESCRIBED} at a time"))));
        }
        for id in args.ids.iter().map(|id| id.trim().to_owned()) {
            if !id.is_empty() && !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            return Err(ToolError::invalid("ids is empty", Some("pass ids returned by search or list".into())));
        }
        let mut left_out: Vec<String> = ids.split_off(ids.len().min(MAX_DESCRIBED));
        let mut wanted: Vec<(String, Option<Target>)> = Vec::new();
        for id in ids {
            let targets = self.0.find(&id);
            if targets.is_empty() {
                wanted.push((id, None));
            } else {
                wanted.extend(targets.into_iter().map(|target| (id.clone(), Some(target))));
            }
        }
        let detail = Detail { values: args.values, query: args.query.as_deref() };
        let shown = join_all(wanted.iter().map(|(id, target)| async move {
            match target {
                Some(target) => self.show(target, detail, max_tokens).await,
                None => Err(self.0.unknown(id)),
            }
        }))
        .await;
        if shown.iter().all(Result::is_err) {
            return shown.into_iter().next().unwrap_or_else(|| Err(self.0.unknown("")));
        }
        let mut items = Vec::new();
        for ((id, target), answer) in wanted.into_iter().zip(shown) {
            items.push(match answer {
                Ok(answer) => {
                    Item { kind: target.as_ref().map(Target::kind), id, answer: answer.unfit(), is_error: false }
                }
                Err(error @ ToolError::Fatal { .. }) => return Err(error),
                Err(error) => {
                    // Includes the id, since the message may not contain it.
                    let mut said = json!({"id": id});
                    if let (Some(said), Value::Object(error)) = (said.as_object_mut(), error.to_json()) {
                        said.extend(error);
                    }
                    Item { kind: None, id, answer: Answer::new(said, Vec::new()), is_error: true }
                }
            });
        }
        left_out.dedup();
        Ok(Answer::of(Described { items, left_out }, MORE).fit(max_tokens))
    }
}

impl Describe {
    /// Returns the answer of the tool for an entry; databases and APIs also get an overview.
    async fn show(&self, target: &Target, detail: Detail<'_>, room: usize) -> Result<Answer, ToolError> {
        let parts = self.0.show(target, detail, room).await?;
        let Catalog { schema, apis, .. } = &self.0.catalog;
        let (list, mut head) = match target {
            Target::Database(name) => {
                let (database, sql) = (schema.database(name), schema.dialect(name).map(Dialect::id));
                let (kind, description) = database.map(|known| (known.kind, &known.description)).unzip();
                ("tables", json!({"database": name, "type": kind, "sql": sql, "description": description}))
            }
            Target::Api(name) => {
                let Api { kind, url, description, .. } = apis.api(name)?;
                ("operations", json!({"api": name, "type": kind, "url": url, "description": description}))
            }
            _ => return Ok(parts),
        };
        if let Some(fields) = head.as_object_mut() {
            fields.retain(|_, value| !value.is_null() && *value != "");
        }
        Ok(Answer::of(Overview { head, list, parts: parts.unfit() }, MORE).fit(room.max(50)))
    }
}

/// A database with its tables, or an API with its operations, as returned by the tool that lists them.
#[derive(Clone)]
struct Overview {
    /// The fields before the list.
    head: Value,
    /// The field of the list.
    list: &'static str,
    parts: Answer,
}

impl Serialize for Overview {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = self.head.clone();
        whole[self.list] = self.parts.json().clone();
        whole.serialize(serializer)
    }
}

impl ToolOutput for Overview {
    fn reveals(&self) -> Vec<Resource> {
        self.parts.reveals()
    }

    fn fits(&self, max_tokens: usize) -> bool {
        self.parts.size() <= max_tokens
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        self.parts = self.parts.fit(budget.tokens);
        Cut::default()
    }
}

/// An entry with the answer of its tool, or an error.
#[derive(Clone, Serialize)]
struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    id: String,
    answer: Answer,
    #[serde(skip)]
    is_error: bool,
}

impl Item {
    /// Estimates the tokens of its label.
    fn label(&self) -> usize {
        LABEL + estimate(&self.id)
    }

    /// Estimates its tokens, for answers limited to `max_tokens`.
    fn size(&self, max_tokens: usize) -> usize {
        self.label() + if self.is_error { ERROR } else { self.answer.fit(max_tokens).size() }
    }
}

/// Several entries, and the omitted ids.
#[derive(Clone)]
struct Described {
    items: Vec<Item>,
    left_out: Vec<String>,
}

impl Described {
    /// Returns the fields that report omitted ids.
    fn rest(&self) -> Map<String, Value> {
        let mut said = Map::new();
        if !self.left_out.is_empty() {
            said.insert("truncated".into(), true.into());
            said.insert("left_out".into(), self.left_out.as_slice().into());
            said.insert("next".into(), "request the ids in left_out in another call".into());
        }
        said
    }

    /// Returns the sizes of the items and the room of each.
    fn rooms(&self, max_tokens: usize) -> Vec<(usize, usize)> {
        let sizes: Vec<usize> = self.items.iter().map(|item| item.size(max_tokens)).collect();
        let rooms = share_room(&sizes, max_tokens);
        sizes.into_iter().zip(rooms).collect()
    }
}

impl Serialize for Described {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.left_out.is_empty() {
            return self.items.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("items", &self.items)?;
        for (key, value) in self.rest() {
            map.serialize_entry(&key, &value)?;
        }
        map.end()
    }
}

impl ToolOutput for Described {
    fn reveals(&self) -> Vec<Resource> {
        self.items.iter().flat_map(|item| item.answer.reveals()).collect()
    }

    fn fits(&self, max_tokens: usize) -> bool {
        let rooms = self.rooms(max_tokens);
        let fits = |(item, (size, room)): (&Item, &(usize, usize))| {
            size <= room && (item.is_error || !item.answer.fit(max_tokens).is_cut())
        };
        self.items.iter().zip(&rooms).all(fits)
    }

    /// Small items are shown whole; the others share the remaining room.
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        let rooms = self.rooms(budget.tokens);
        for (mut item, (size, room)) in std::mem::take(&mut self.items).into_iter().zip(rooms) {
            if size > room && room < MIN_ROOM {
                self.left_out.push(item.id);
                continue;
            }
            if !item.is_error {
                let tokens = if size <= room { budget.tokens } else { room - item.label() };
                item.answer = item.answer.fit(tokens.max(50));
            }
            self.items.push(item);
        }
        self.left_out.dedup();
        Cut::default()
    }

    fn content(&self) -> Option<&str> {
        self.items.iter().find_map(|item| item.answer.content())
    }

    fn render(&self, _: &Cut) -> Text {
        let rest = self.rest();
        Text {
            parts: self.items.iter().map(|item| item.answer.text()).collect(),
            rest: if rest.is_empty() { String::new() } else { compact::render(&rest.into()) },
        }
    }
}

/// Distributes the room: each size gets what it needs, or an equal share of what the small ones leave. Trailing items that would get too
/// little get nothing.
fn share_room(sizes: &[usize], room: usize) -> Vec<usize> {
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
        let starved = (0..kept).any(|at| rooms[at] < sizes[at] && rooms[at] < MIN_ROOM);
        if !starved || kept <= 1 {
            return rooms;
        }
        kept -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[usize], room: usize, expected: &[usize]) {
        assert_eq!(share_room(sizes, room), expected);
    }

    #[test]
    fn shares_the_room_and_prefers_the_first_items() {
        check(&[100, 200], 1_000, &[100, 200]);
        check(&[5_000, 100, 5_000], 1_000, &[450, 100, 450]);
        check(&[500; 4], 200, &[100, 100, 0, 0]);
        check(&[500], 50, &[50]);
        check(&[], 50, &[]);
    }
}
