//! Finds the operations that return an identifier required by another operation.
//!
//! The entity is named by the parameter (`album_id`), or by the path segment before its placeholder (`/albums/{id}`).
//! An operation returns its identifier if it reads, does not require that identifier itself, and its response
//! contains entities of that name with an identifier: in a list at a path of that name, in a field of that name, or
//! as a field `album_id`.

use std::collections::HashSet;

use prospector_text::{
    identifiers::{self, IDENTIFIERS, SEARCH_WORDS},
    stem::strip_ending,
};

use crate::{
    Api, Operation,
    model::{Access, Field, Location, Parameter, Shape},
    render::bare,
    shape,
};

/// Maximum number of operations returned.
const MAX_PROVIDERS: usize = 2;

/// Maximum number of shapes of a response that are visited.
const MAX_SHAPES: usize = 300;

/// Returns the names of the operations that return the value of a required identifier, best match first.
pub(crate) fn find_providers<'a>(api: &'a Api, operation: &Operation, parameter: &Parameter) -> Vec<&'a str> {
    let Some(entity) = entity_of(operation, parameter) else { return Vec::new() };
    let mut found: Vec<(Fit, &'a str)> = (api.operations.iter())
        .filter(|other| other.name != operation.name && other.access() == Some(Access::Reads) && !other.deprecated)
        .filter_map(|other| Some((Fit::of(api, other, &entity)?, other.name.as_str())))
        .collect();
    found.sort();
    found.into_iter().take(MAX_PROVIDERS).map(|(_, name)| name).collect()
}

/// Returns the entity that a required parameter identifies, singular and in lower case: `album` for `albumId`.
fn entity_of(operation: &Operation, parameter: &Parameter) -> Option<String> {
    if !parameter.required || !parameter.values.is_empty() {
        return None;
    }
    let mut words = identifiers::words(&parameter.name);
    let is_identifier = words.last().is_some_and(|last| IDENTIFIERS.contains(&last.as_str()));
    if is_identifier {
        words.pop();
    }
    let placeholder = format!("{{{}}}", parameter.name);
    let before = || {
        let segments: Vec<&str> = operation.path.split('/').collect();
        let at = segments.iter().position(|segment| segment.contains(&placeholder))?;
        segments[..at]
            .iter()
            .rev()
            .find(|segment| !segment.is_empty())
            .filter(|segment| !segment.contains('{'))
            .copied()
    };
    let entity = match (is_identifier, words.is_empty(), parameter.location) {
        (true, false, _) => words.concat(),
        (true, true, Location::Path) => singular(before()?),
        (true, true, Location::Query | Location::Argument) => nouns(operation).pop()?,
        // `/albums/{album}`
        (false, false, Location::Path) => {
            Some(singular(before()?)).filter(|entity| *entity == strip_ending(words.concat()))?
        }
        _ => return None,
    };
    Some(strip_ending(entity)).filter(|entity| !entity.is_empty())
}

fn singular(name: &str) -> String {
    strip_ending(identifiers::words(name).concat())
}

/// Returns the nouns in the path of an operation, or in its name if it has no path.
fn nouns(operation: &Operation) -> Vec<String> {
    if operation.path.contains('/') {
        let fixed = operation.path.split('/').filter(|segment| !segment.is_empty() && !segment.contains('{'));
        return fixed.map(singular).collect();
    }
    let words = identifiers::words(&operation.name);
    // The first of several words is usually a verb.
    let skipped = usize::from(words.len() > 1);
    let mut nouns: Vec<String> = words.iter().map(|word| strip_ending(word.clone())).collect();
    nouns.push(strip_ending(words[skipped..].concat()));
    nouns
}

/// How well an operation provides an identifier; the minimum is the best match.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// Number of identifiers that it requires itself.
    requires: usize,
    way: Way,
    /// Searches are preferred: callers usually know what to search for, but not the parameters of other lists.
    is_search: std::cmp::Reverse<bool>,
    path: usize,
}

/// How an operation returns the identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// A list at a path that ends with the entity.
    Collection,
    /// A list at a path that contains the entity.
    Named,
    /// A field of the response that contains the entity or its id.
    Field,
}

impl Fit {
    fn of(api: &Api, operation: &Operation, entity: &str) -> Option<Fit> {
        let required: Vec<String> =
            operation.parameters.iter().filter_map(|parameter| entity_of(operation, parameter)).collect();
        if required.iter().any(|required| required == entity) {
            return None;
        }
        let nouns = nouns(operation);
        let is_of = |noun: &String| noun == entity;
        let answer = Answer::of(api, operation.response_schema.as_ref()?, entity);
        let way = match (nouns.last().is_some_and(is_of), nouns.iter().any(is_of)) {
            (true, _) if answer.lists_entities => Way::Collection,
            (_, true) if answer.lists_entities => Way::Named,
            _ if answer.has_field => Way::Field,
            _ => return None,
        };
        let said = identifiers::words(&format!("{} {}", operation.name, operation.path));
        let is_search = said.iter().any(|word| SEARCH_WORDS.contains(&word.as_str()));
        let path = operation.path.len();
        Some(Fit { requires: required.len(), way, is_search: std::cmp::Reverse(is_search), path })
    }
}

/// What a response contains of an entity.
#[derive(Default)]
struct Answer {
    /// A list of objects with an identifier.
    lists_entities: bool,
    /// A field with the name of the entity whose objects have an identifier, or a field `entity_id`.
    has_field: bool,
}

impl Answer {
    fn of(api: &Api, shape: &Shape, entity: &str) -> Answer {
        let mut answer = Answer::default();
        let (mut open, mut entered, mut looked) = (vec![(shape, false)], HashSet::new(), 0);
        while let Some((shape, is_item)) = open.pop() {
            looked += 1;
            if looked > MAX_SHAPES {
                break;
            }
            match shape {
                Shape::Named(name) => {
                    let found = shape::find_type(&api.types, name);
                    // A type may match as an item although it did not match before.
                    open.extend(
                        found.filter(|(name, _)| entered.insert((*name, is_item))).map(|(_, shape)| (shape, is_item)),
                    );
                }
                Shape::List(item) => open.push((item, true)),
                Shape::Content(_, Some(inner)) => open.push((inner, is_item)),
                Shape::OneOf(shapes) | Shape::AnyOf(shapes) => open.extend(shapes.iter().map(|shape| (shape, is_item))),
                Shape::Object { fields, rest, besides } => {
                    answer.lists_entities |= is_item && has_identifier(fields);
                    answer.has_field |= fields.iter().any(|field| identifies(api, field, entity));
                    open.extend(fields.iter().map(|field| (&field.shape, false)));
                    open.extend(rest.iter().map(|rest| (&**rest, true)));
                    open.extend(besides.iter().map(|shape| (shape, is_item)));
                }
                Shape::Word(_) | Shape::Content(_, None) | Shape::Cycle(_) | Shape::Cut(_) | Shape::Unresolved(_) => {}
            }
        }
        answer
    }
}

fn has_identifier(fields: &[Field]) -> bool {
    fields.iter().any(|field| identifiers::is_identifier(&identifiers::words(bare(&field.name))))
}

/// Returns whether a field has the name of the entity and an identifier, or is the identifier.
fn identifies(api: &Api, field: &Field, entity: &str) -> bool {
    let mut words = identifiers::words(bare(&field.name));
    if words.len() > 1 && identifiers::is_identifier(&words) {
        words.pop();
        return strip_ending(words.concat()) == entity;
    }
    strip_ending(words.concat()) == entity && fields_of(api, &field.shape).is_some_and(has_identifier)
}

/// Returns the fields of an object, or of the items of a list.
fn fields_of<'a>(api: &'a Api, shape: &'a Shape) -> Option<&'a [Field]> {
    match shape {
        Shape::Named(name) => match shape::find_type(&api.types, name)?.1 {
            Shape::Named(_) => None,
            shape => fields_of(api, shape),
        },
        Shape::List(item) => match &**item {
            Shape::List(_) => None,
            item => fields_of(api, item),
        },
        Shape::Object { fields, .. } => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApiDiscovery;

    const MUSIC: &str = r##"
openapi: 3.0.0
paths:
  /search: {get: {operationId: search, parameters: [{name: q, in: query, required: true, schema: {type: string}}],
    responses: {'200': {content: {application/json: {schema: {properties: {
      albums: {type: array, items: {$ref: '#/components/schemas/Album'}}, artists: {type: array, items: {$ref: '#/components/schemas/Artist'}}}}}}}}}}
  /albums: {get: {operationId: list-albums, responses: {'200': {content: {application/json: {schema: {properties: {
      items: {type: array, items: {$ref: '#/components/schemas/Album'}}}}}}}}}}
  /albums/{id}: {get: {operationId: get-album, parameters: [{name: id, in: path, required: true, schema: {type: string}}],
    responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/Album'}}}}}}}
  /albums/{album}/tracks: {get: {operationId: list-tracks, parameters: [{name: album, in: path, required: true, schema: {type: string}}],
    responses: {'200': {content: {application/json: {schema: {type: array, items: {properties: {id: {type: string}}}}}}}}}}
  /artists/{artist_id}/top: {get: {operationId: top, parameters: [{name: artist_id, in: path, required: true, schema: {type: string}},
      {name: market, in: query, required: true, schema: {type: string}}], responses: {'200': {description: ok}}}}
  /tracks/{trackId}: {delete: {operationId: remove, parameters: [{name: trackId, in: path, required: true, schema: {type: string}}],
    responses: {'204': {description: gone}}}}
components:
  schemas:
    Album: {properties: {id: {type: string}, title: {type: string}}}
    Artist: {properties: {id: {type: string}}}
"##;

    fn check(text: &str, operation: &str, parameter: &str, expected: &[&str]) {
        let (discovery, problems) = ApiDiscovery::from_text("a", text);
        assert_eq!(problems, []);
        let (api, operation) = discovery.operation("a", operation).unwrap();
        let parameter = operation.parameters.iter().find(|known| known.name == parameter).unwrap();
        assert_eq!(find_providers(api, operation, parameter), expected);
    }

    #[test]
    fn finds_identifiers_in_lists_and_fields() {
        check(MUSIC, "get-album", "id", &["list-albums", "search"]);
        check(MUSIC, "list-tracks", "album", &["list-albums", "search"]);
        check(MUSIC, "top", "artist_id", &["search"]);
        check(MUSIC, "remove", "trackId", &["list-tracks"]);
    }

    #[test]
    fn other_parameters_have_no_provider() {
        check(MUSIC, "top", "market", &[]);
        check(MUSIC, "search", "q", &[]);
    }

    #[test]
    fn graphql_queries_are_named_by_field() {
        let graph =
            "type Query { orders(open: Boolean): [Order!]! order(id: ID!): Order me: Person lines(orderId: ID!): Int }
                     type Order { id: ID! total: Int } type Person { name: String lastOrder: Order }";
        check(graph, "order", "id", &["orders"]);
        check(graph, "lines", "orderId", &["orders"]);
    }
}
