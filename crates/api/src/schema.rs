//! A JSON Schema as OpenAPI writes it, rendered as a compact shape: references resolved, `allOf` merged, `oneOf` and
//! `anyOf` listed, cycles cut. It reads the raw tree, so that a fault in one schema costs nothing but itself.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    document::lookup,
    shape::{self, MAX_PARTS, cut, cycle, fitted},
};

/// How many references may be followed into each other before the rest is cut.
const MAX_CHAIN: usize = 48;

/// How many levels of objects are shown at most.
const DEEPEST: usize = 5;

/// Which side of the exchange is rendered: what only the other side writes is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// What the caller sends.
    Request,
    /// What it gets.
    Response,
}

/// The schemas of one document.
pub(crate) struct Schemas<'a> {
    root: &'a Value,
    /// References that lead nowhere.
    pub(crate) missing: BTreeSet<String>,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Schemas { root, missing: BTreeSet::new() }
    }

    /// The shape of a body.
    pub(crate) fn body(&mut self, schema: &'a Value, side: Side) -> Value {
        fitted(DEEPEST, |depth| self.rendering(side).shape(schema, depth))
    }

    /// The type of a parameter on one line.
    pub(crate) fn type_name(&mut self, schema: &'a Value) -> String {
        self.rendering(Side::Request).type_name(schema, 3)
    }

    /// The listed values and the default of a parameter; those of its items where it is a list.
    pub(crate) fn values(&mut self, schema: &'a Value) -> (Vec<Value>, Option<Value>) {
        let mut rendering = self.rendering(Side::Request);
        let flat = rendering.flat(schema);
        let values = match flat.items {
            Some(items) if flat.values.is_empty() => rendering.flat(items).values,
            _ => flat.values,
        };
        (shape::listed(&values), flat.default.cloned())
    }

    fn rendering(&mut self, side: Side) -> Rendering<'a, '_> {
        Rendering { root: self.root, missing: &mut self.missing, side, chain: Vec::new(), parts: 0 }
    }
}

/// A schema with its references and `allOf` folded in.
#[derive(Default)]
struct Flat<'a> {
    name: Option<&'a str>,
    types: Vec<&'a str>,
    format: Option<&'a str>,
    nullable: bool,
    values: Vec<Value>,
    default: Option<&'a Value>,
    items: Option<&'a Value>,
    properties: Vec<(&'a str, &'a Value)>,
    any_key: Option<&'a Value>,
    required: Vec<&'a str>,
    one_of: Vec<&'a Value>,
    any_of: Vec<&'a Value>,
    /// What replaces the schema where a reference cannot be followed.
    stop: Option<Value>,
    /// The references that were followed.
    followed: Vec<&'a str>,
}

struct Rendering<'a, 'm> {
    root: &'a Value,
    missing: &'m mut BTreeSet<String>,
    side: Side,
    /// The references that are open: meeting one again is a cycle.
    chain: Vec<&'a str>,
    parts: usize,
}

impl<'a> Rendering<'a, '_> {
    fn flat(&mut self, schema: &'a Value) -> Flat<'a> {
        let mut flat = Flat::default();
        self.gather(schema, &mut flat);
        flat
    }

    fn gather(&mut self, schema: &'a Value, flat: &mut Flat<'a>) {
        if let Some(reference) = text(schema, "$ref") {
            let name = reference_name(reference);
            if self.chain.contains(&reference) || flat.followed.contains(&reference) {
                flat.stop = Some(cycle(name));
            } else if self.chain.len() + flat.followed.len() >= MAX_CHAIN {
                flat.stop = Some(cut(name));
            } else if let Some(target) = lookup(self.root, reference) {
                flat.followed.push(reference);
                flat.name.get_or_insert(name);
                self.gather(target, flat);
            } else {
                self.missing.insert(reference.to_owned());
                flat.stop = Some(json!({ "$unresolved": reference }));
            }
            return;
        }
        match schema.get("type") {
            Some(Value::String(one)) => flat.add_type(one),
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).for_each(|t| flat.add_type(t)),
            _ => {}
        }
        flat.nullable |= schema.get("nullable") == Some(&Value::Bool(true));
        flat.format = flat.format.or(text(schema, "format"));
        flat.default = flat.default.or(schema.get("default"));
        flat.items = flat.items.or(schema.get("items"));
        if flat.values.is_empty() {
            flat.values = match (list(schema, "enum"), schema.get("const")) {
                ([], Some(only)) => vec![only.clone()],
                (values, _) => values.to_vec(),
            };
        }
        flat.any_key = flat.any_key.or(schema.get("additionalProperties").filter(|any| any.is_object()));
        flat.required.extend(list(schema, "required").iter().filter_map(Value::as_str));
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // What is merged later is the more special one.
            match flat.properties.iter_mut().find(|(known, _)| known == name) {
                Some(known) => known.1 = property,
                None => flat.properties.push((name, property)),
            }
        }
        flat.one_of.extend(list(schema, "oneOf"));
        flat.any_of.extend(list(schema, "anyOf"));
        for part in list(schema, "allOf") {
            self.gather(part, flat);
        }
    }

    fn shape(&mut self, schema: &'a Value, depth: usize) -> Value {
        self.parts += 1;
        let flat = self.flat(schema);
        if self.parts > MAX_PARTS {
            return cut(flat.label());
        }
        let opened = flat.followed.len();
        self.chain.extend(&flat.followed);
        let value = self.render(&flat, depth);
        self.chain.truncate(self.chain.len() - opened);
        value
    }

    fn render(&mut self, flat: &Flat<'a>, depth: usize) -> Value {
        if flat.is_object() {
            return self.object(flat, depth);
        }
        if let Some(stop) = &flat.stop {
            return stop.clone();
        }
        if let Some(items) = flat.items {
            return json!([self.shape(items, depth)]);
        }
        if !flat.values.is_empty() {
            return Value::String(shape::enumeration(&flat.values));
        }
        for (key, variants) in [("$one_of", &flat.one_of), ("$any_of", &flat.any_of)] {
            if !variants.is_empty() {
                return self.variants(key, variants, depth);
            }
        }
        Value::String(flat.scalar())
    }

    fn object(&mut self, flat: &Flat<'a>, depth: usize) -> Value {
        if depth == 0 {
            return cut(flat.label());
        }
        let (wanted, unwanted) = match self.side {
            Side::Request => ("writeOnly", "readOnly"),
            Side::Response => ("readOnly", "writeOnly"),
        };
        let hidden = |property: &Value| {
            property.get(unwanted) == Some(&Value::Bool(true)) && property.get(wanted) != Some(&Value::Bool(true))
        };
        let shown: Vec<_> = flat.properties.iter().filter(|(_, property)| !hidden(property)).collect();
        let mut fields = Map::new();
        if self.side == Side::Request {
            let needed: Vec<&str> = shown.iter().map(|(n, _)| *n).filter(|n| flat.required.contains(n)).collect();
            if !needed.is_empty() && needed.len() == shown.len() {
                fields.insert("$required".into(), json!("all"));
            } else if !needed.is_empty() {
                fields.insert("$required".into(), json!(needed));
            }
        }
        for (name, property) in shown {
            let value = self.shape(property, depth - 1);
            fields.insert((*name).to_owned(), value);
        }
        if let Some(any) = flat.any_key {
            let value = self.shape(any, depth - 1);
            fields.insert("*".into(), value);
        }
        for (key, variants) in [("$one_of", &flat.one_of), ("$any_of", &flat.any_of)] {
            // Variants that only say which fields go together have nothing to show.
            let shapes: Vec<Value> = variants.iter().map(|variant| self.shape(variant, depth)).collect();
            if shapes.iter().any(|shape| shape.is_object()) {
                fields.insert(key.into(), Value::Array(shapes));
            }
        }
        if let Some(Value::Object(stop)) = &flat.stop {
            fields.extend(stop.clone());
        }
        Value::Object(fields)
    }

    fn variants(&mut self, key: &str, variants: &[&'a Value], depth: usize) -> Value {
        let is_null = |variant: &Value| text(variant, "type") == Some("null");
        let mut shapes: Vec<Value> =
            variants.iter().filter(|v| !is_null(v)).map(|variant| self.shape(variant, depth)).collect();
        shapes.dedup();
        if shapes.len() == 1 {
            return shapes.remove(0);
        }
        let words: Vec<&str> = shapes.iter().filter_map(Value::as_str).collect();
        if words.len() == shapes.len() && words.len() <= 4 {
            return Value::String(words.join(" or "));
        }
        json!({ key: shapes })
    }

    fn type_name(&mut self, schema: &'a Value, depth: usize) -> String {
        let flat = self.flat(schema);
        if flat.is_object() {
            return "object".to_owned();
        }
        if let Some(items) = flat.items {
            return if depth == 0 {
                "array".to_owned()
            } else {
                format!("array of {}", self.type_name(items, depth - 1))
            };
        }
        let variants: Vec<&'a Value> = flat.one_of.iter().chain(&flat.any_of).copied().collect();
        if depth > 0 && flat.types.is_empty() && !variants.is_empty() {
            let mut names: Vec<String> =
                variants.iter().take(8).map(|variant| self.type_name(variant, depth - 1)).collect();
            names.sort();
            names.dedup();
            return names.join(" or ");
        }
        flat.scalar()
    }
}

impl<'a> Flat<'a> {
    fn add_type(&mut self, name: &'a str) {
        if name == "null" {
            self.nullable = true;
        } else if !self.types.contains(&name) {
            self.types.push(name);
        }
    }

    fn is_object(&self) -> bool {
        !self.properties.is_empty() || self.any_key.is_some()
    }

    fn label(&self) -> &'a str {
        self.name.unwrap_or("object")
    }

    /// `string (date) or null`; where nothing is said of the type, the values that are listed say it.
    fn scalar(&self) -> String {
        let mut types = self.types.clone();
        if types.is_empty()
            && let Some(value) = self.values.first()
        {
            types.push(match value {
                Value::String(_) => "string",
                Value::Number(_) => "number",
                Value::Bool(_) => "boolean",
                _ => "any",
            });
        }
        let mut name = if types.is_empty() { "any".to_owned() } else { types.join(" or ") };
        // `int32` and the like tell a caller nothing; `date`, `binary` or `email` do.
        if let Some(format) = self.format.filter(|_| types == ["string"]) {
            name.push_str(&format!(" ({format})"));
        }
        if self.nullable {
            name.push_str(" or null");
        }
        name
    }
}

/// `Order` of `#/components/schemas/Order`; a reference into the middle of something has no name.
fn reference_name(reference: &str) -> &str {
    match reference.rsplit_once('/') {
        Some((place, name))
            if place.ends_with("chemas") || place.ends_with("efinitions") || place.ends_with("$defs") =>
        {
            name
        }
        _ => "object",
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of a response with `schema`, where `schemas` are the components.
    fn check(schemas: Value, schema: Value, expected: Value) {
        assert_eq!(rendered(schemas, schema, Side::Response), expected);
    }

    fn rendered(schemas: Value, schema: Value, side: Side) -> Value {
        let root = json!({ "components": { "schemas": schemas } });
        Schemas::new(&root).body(&schema, side)
    }

    fn to(name: &str) -> Value {
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    #[test]
    fn references_are_resolved_and_scalars_are_one_word() {
        check(
            json!({"Pet": {"type": "object", "properties": {
                "id": {"type": "integer", "format": "int64"},
                "born": {"type": "string", "format": "date", "nullable": true},
                "state": {"type": "string", "enum": ["alive", "dead"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "names": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {},
                "either": {"type": ["string", "integer", "null"]}
            }}}),
            to("Pet"),
            json!({"id": "integer", "born": "string (date) or null", "state": "enum: alive | dead", "tags": ["string"],
                   "names": {"*": "string"}, "free": "any", "either": "string or integer or null"}),
        );
    }

    #[test]
    fn a_cycle_is_cut_and_said() {
        let schemas = json!({"Category": {"properties": {"name": {"type": "string"}, "parent": to("Category"),
                                          "children": {"type": "array", "items": to("Category")}}}});
        check(
            schemas,
            to("Category"),
            json!({"name": "string", "parent": {"$cycle": "Category"}, "children": [{"$cycle": "Category"}]}),
        );
        check(json!({"A": to("B"), "B": to("A")}), to("A"), json!({"$cycle": "A"}));
        check(json!({"A": {"allOf": [to("A")]}}), to("A"), json!({"$cycle": "A"}));
    }

    #[test]
    fn all_of_is_merged_and_variants_are_listed() {
        let schemas = json!({
            "Base": {"properties": {"id": {"type": "integer"}}},
            "Cat": {"allOf": [to("Base"), {"properties": {"purrs": {"type": "boolean"}}}]},
            "Dog": {"properties": {"barks": {"type": "boolean"}}}
        });
        check(schemas.clone(), to("Cat"), json!({"id": "integer", "purrs": "boolean"}));
        check(
            schemas.clone(),
            json!({"oneOf": [to("Dog"), to("Base")]}),
            json!({"$one_of": [{"barks": "boolean"}, {"id": "integer"}]}),
        );
        check(schemas.clone(), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!("string or integer"));
        check(schemas, json!({"oneOf": [to("Dog"), {"type": "null"}]}), json!({"barks": "boolean"}));
    }

    #[test]
    fn a_request_says_what_is_required_and_leaves_out_what_only_the_server_sets() {
        let order = json!({"type": "object", "required": ["id", "customer"], "properties": {
            "id": {"type": "integer", "readOnly": true}, "customer": {"type": "string"}, "note": {"type": "string"}
        }});
        assert_eq!(
            rendered(json!({}), order.clone(), Side::Request),
            json!({"$required": ["customer"], "customer": "string", "note": "string"})
        );
        check(json!({}), order, json!({"id": "integer", "customer": "string", "note": "string"}));
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_said_and_remembered() {
        let root = json!({});
        let schema = json!({"properties": {"a": to("Gone"), "b": {"$ref": "other.yaml#/X"}}});
        let mut schemas = Schemas::new(&root);
        assert_eq!(
            schemas.body(&schema, Side::Response),
            json!({"a": {"$unresolved": "#/components/schemas/Gone"}, "b": {"$unresolved": "other.yaml#/X"}})
        );
        assert_eq!(schemas.missing.len(), 2);
    }

    #[test]
    fn large_schemas_end_early_and_say_so() {
        // Every level has 40 references to the next one: 40^6 parts if all were rendered.
        let level = |n: usize| {
            let fields: Map<String, Value> = (0..40).map(|f| (format!("f{f}"), to(&format!("L{}", n + 1)))).collect();
            (format!("L{n}"), json!({ "properties": fields }))
        };
        let schemas: Map<String, Value> = (0..6).map(level).collect();
        let shape = rendered(schemas.into(), to("L0"), Side::Response);
        assert_eq!(shape["f0"], json!({"$cut": "L1"}));

        // A chain of references far longer than the stack would bear.
        let chain: Map<String, Value> =
            (0..10_000).map(|n| (format!("C{n}"), json!({"allOf": [to(&format!("C{}", n + 1))]}))).collect();
        assert_eq!(rendered(chain.into(), to("C0"), Side::Response), json!({"$cut": "C48"}));
    }

    #[test]
    fn nonsense_is_no_reason_to_fail() {
        for schema in [json!(true), json!("x"), json!(null), json!([1])] {
            check(json!({}), schema, json!("any"));
        }
        check(
            json!({}),
            json!({"type": 3, "properties": {"a": {"type": "string", "required": true}, "b": 7}, "enum": "x"}),
            json!({"a": "string", "b": "any"}),
        );
    }
}
