//! The columns of the rows of an operation's response, as far as its response schema declares them.

use prospector_api::{
    Api, ApiKind, Operation,
    model::{Field, Shape},
};

/// Maximum number of references and lists that are followed to a shape.
const MAX_SHAPES: usize = 8;

/// Returns the columns of a response: of a list of objects, of the only such list in an object, or of the object itself. Empty if the
/// schema allows other fields.
pub(super) fn list_columns(api: &Api, operation: &Operation) -> Vec<String> {
    let fields = find_row(api, operation).and_then(|row| list_fields(api, row));
    fields.unwrap_or_default().into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Verifies that a row of a response has the field of a path: `id`, or `geometry.lat` within a column.
///
/// # Errors
/// The first field that the schema excludes, with its parent and the fields of the parent.
pub(super) fn check_path(api: &Api, operation: &Operation, path: &str) -> Result<(), MissingField> {
    let Some(mut shape) = find_row(api, operation) else { return Ok(()) };
    let mut parent = String::new();
    for name in path.split('.') {
        let fields = match resolve(api, shape) {
            Some(Shape::Word(_)) => Vec::new(),
            Some(_) => match list_fields(api, shape) {
                Some(fields) => fields,
                None => return Ok(()),
            },
            None => return Ok(()),
        };
        let Some((_, inner)) = fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)) else {
            let known = fields.into_iter().map(|(name, _)| name.to_owned()).collect();
            return Err(MissingField { name: name.to_owned(), parent, known });
        };
        parent = if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
        shape = inner;
    }
    Ok(())
}

/// A field that a response schema does not have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MissingField {
    pub(super) name: String,
    /// The path of the parent; empty for the row.
    pub(super) parent: String,
    pub(super) known: Vec<String>,
}

/// Returns the shape of one row.
fn find_row<'a>(api: &'a Api, operation: &'a Operation) -> Option<&'a Shape> {
    let shape = resolve(api, operation.response_schema.as_ref()?)?;
    let Shape::Object { fields, .. } = shape else { return Some(shape) };
    let lists: Vec<&Field> = fields.iter().filter(|field| is_list_of_objects(api, &field.shape)).collect();
    match lists.as_slice() {
        // A GraphQL call selects no lists of objects.
        [only] if api.kind != ApiKind::GraphQl => resolve(api, &only.shape),
        _ => Some(shape),
    }
}

fn is_list_of_objects(api: &Api, shape: &Shape) -> bool {
    let list = match shape {
        Shape::Named(name) => api.types.get(name),
        other => Some(other),
    };
    matches!(list, Some(Shape::List(inner)) if matches!(resolve(api, inner), Some(Shape::Object { .. })))
}

/// Resolves references and lists to a shape; `None` if it is not declared.
fn resolve<'a>(api: &'a Api, mut shape: &'a Shape) -> Option<&'a Shape> {
    for _ in 0..MAX_SHAPES {
        shape = match shape {
            Shape::List(inner) => inner,
            Shape::Named(name) => api.types.get(name)?,
            Shape::Word(_) | Shape::Object { .. } => return Some(shape),
            _ => return None,
        };
    }
    None
}

/// Returns the fields of an object that allows no others. For GraphQL, only scalar fields, which are all that a call selects.
fn list_fields<'a>(api: &'a Api, shape: &'a Shape) -> Option<Vec<(&'a str, &'a Shape)>> {
    let Some(Shape::Object { fields, rest: None, besides }) = resolve(api, shape) else { return None };
    if !besides.is_empty() || fields.is_empty() {
        return None;
    }
    let is_value = |field: &&Field| matches!(resolve(api, &field.shape), Some(Shape::Word(_)));
    let is_returned = |field: &&Field| !field.write_only && (api.kind != ApiKind::GraphQl || is_value(field));
    let bare = |name: &'a str| name.split('(').next().unwrap_or(name);
    Some(fields.iter().filter(is_returned).map(|field| (bare(&field.name), &field.shape)).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn api(response: Value) -> Api {
        let word = |name: &str| json!({"name": name, "shape": {"word": "string"}});
        let place = json!({"object": {"fields": [word("city"), {"name": "geometry", "shape": {"named": "Point"}}]}});
        let point = json!({"object": {"fields": [word("lat"), word("lng")]}});
        let operation = json!({"name": "find", "method": "GET", "path": "/", "response_schema": response});
        serde_json::from_value(json!({"name": "geo", "kind": "openapi", "operations": [operation],
            "types": {"Place": place, "Point": point}}))
        .unwrap()
    }

    #[test]
    fn paths_are_compared_with_the_response_schema() {
        let listed = json!({"object": {"fields": [{"name": "total", "shape": {"word": "integer"}},
            {"name": "tags", "shape": {"list": {"word": "string"}}},
            {"name": "results", "shape": {"list": {"named": "Place"}}}]}});
        let place = json!({"named": "Place"});
        let open = json!({"object": {"fields": [], "rest": {"word": "string"}}});
        for (response, path, expected) in [
            (&listed, "city", None),
            (&place, "geometry.lat", None),
            (&listed, "Geometry.LNG", None),
            (&listed, "total", Some(("total", ""))),
            (&place, "geometry.height", Some(("height", "geometry"))),
            (&place, "city.name", Some(("name", "city"))),
            (&place, "geometry.lat.degrees", Some(("degrees", "geometry.lat"))),
            (&open, "anything", None),
            (&json!({"named": "Unknown"}), "anything", None),
        ] {
            let api = api(response.clone());
            let missing = check_path(&api, &api.operations[0], path).err();
            let found = missing.as_ref().map(|missing| (missing.name.as_str(), missing.parent.as_str()));
            assert_eq!(found, expected, "{path}");
        }
        let columns = |response: &Value| {
            let api = api(response.clone());
            list_columns(&api, &api.operations[0])
        };
        assert_eq!(columns(&listed), ["city", "geometry"]);
        assert_eq!(columns(&open), [] as [&str; 0]);
    }
}
