//! Converts JSON Schemas of OpenAPI to [`Shape`]s: references become names of types, `allOf` is merged, `oneOf` and
//! `anyOf` are listed. It reads the untyped tree, so an error in one schema does not affect others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use indexmap::IndexMap;
use prospector_text::cut;
use serde_json::Value;

use crate::{
    library::{Library, Node, ReferenceError},
    model::{Field, Shape},
    shape,
};

/// Maximum number of schemas merged by `allOf`.
const MAX_MERGED: usize = 256;

/// Maximum number of parts of all shapes of one API, in addition to two for each node of its documents; merging
/// multiplies parts.
const MORE_PARTS: usize = 500_000;

/// Maximum nesting of unnamed schemas.
const MAX_DEPTH: usize = 64;

/// Reads the schemas of one API, and collects the named ones.
pub(crate) struct Schemas<'a> {
    library: &'a Library,
    /// Names of the types by the address of their node.
    names: HashMap<*const Value, String>,
    taken: HashSet<String>,
    wanted: VecDeque<(String, Node<'a>)>,
    parts: usize,
    most_parts: usize,
    /// Why references could not be resolved.
    pub(crate) missing: BTreeSet<String>,
}

/// A schema with its `allOf` merged in.
#[derive(Default)]
struct Flat<'a> {
    types: Vec<&'a str>,
    format: Option<&'a str>,
    nullable: bool,
    values: &'a [Value],
    default: Option<&'a Value>,
    items: Option<Node<'a>>,
    properties: IndexMap<&'a str, Node<'a>>,
    rest: Option<Node<'a>>,
    required: HashSet<&'a str>,
    one_of: Vec<Node<'a>>,
    any_of: Vec<Node<'a>>,
    /// Parts that could not be merged.
    besides: Vec<Shape>,
    /// Schemas that were merged, and those of them still being merged.
    merged: HashSet<*const Value>,
    open: Vec<*const Value>,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(library: &'a Library) -> Self {
        Schemas {
            library,
            names: HashMap::new(),
            taken: HashSet::new(),
            wanted: VecDeque::new(),
            parts: 0,
            most_parts: library.nodes().saturating_mul(2).saturating_add(MORE_PARTS),
            missing: BTreeSet::new(),
        }
    }

    /// Returns the types named so far and those they name, and whether all could be read completely.
    pub(crate) fn types(&mut self) -> (BTreeMap<String, Shape>, bool) {
        let mut types = BTreeMap::new();
        while let Some((name, node)) = self.wanted.pop_front() {
            let shape = self.own_shape(node, 0);
            types.insert(name, shape);
        }
        (types, self.parts < self.most_parts)
    }

    /// Returns the shape of a body or of a part of one.
    pub(crate) fn shape(&mut self, node: Node<'a>) -> Shape {
        self.inner(node, 0)
    }

    /// Returns the shape of the target of a reference, for example of the body of a shared response.
    pub(crate) fn shared_shape(&mut self, node: Node<'a>, reference: Option<&'a str>) -> Shape {
        match reference {
            Some(reference) if node.value.get("$ref").is_none() => Shape::Named(self.name(node, reference)),
            _ => self.shape(node),
        }
    }

    /// Returns the type of a parameter on one line.
    pub(crate) fn type_name(&mut self, node: Node<'a>) -> String {
        self.line(node, 3)
    }

    /// Returns the enumerated values and the default of a parameter; those of its items if it is a list.
    pub(crate) fn values(&mut self, node: Node<'a>) -> (Vec<Value>, Option<Value>) {
        let flat = self.flat(node);
        let default = flat.default.filter(|value| shape::is_short(value)).cloned();
        let values = match flat.items {
            Some(items) if flat.values.is_empty() => self.flat(items).values,
            _ => flat.values,
        };
        (shape::keep_values(values), default)
    }

    fn name(&mut self, node: Node<'a>, reference: &str) -> String {
        let place = std::ptr::from_ref(node.value);
        if let Some(name) = self.names.get(&place) {
            return name.clone();
        }
        let base = reference_name(reference);
        let mut name = base.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.names.insert(place, name.clone());
        self.wanted.push_back((name.clone(), node));
        name
    }

    fn inner(&mut self, node: Node<'a>, depth: usize) -> Shape {
        let Some(alias) = alias(node) else { return self.own_shape(node, depth) };
        match self.library.resolve(alias) {
            Ok((target, Some(reference))) => Shape::Named(self.name(target, reference)),
            Ok((target, None)) => self.own_shape(target, depth),
            Err(reason) => self.unresolved_shape(alias, reason),
        }
    }

    fn unresolved_shape(&mut self, node: Node<'a>, reason: ReferenceError) -> Shape {
        let reference = text(node.value, "$ref").unwrap_or_default();
        if matches!(reason, ReferenceError::Circle(_)) {
            return Shape::Cycle(reference_name(reference));
        }
        self.missing.insert(reason.to_string());
        Shape::Unresolved(reference.to_owned())
    }

    fn flat(&mut self, node: Node<'a>) -> Flat<'a> {
        let mut flat = Flat::default();
        self.gather(node, &mut flat);
        flat
    }

    fn gather(&mut self, node: Node<'a>, flat: &mut Flat<'a>) {
        let Node { document, value } = node;
        let place = std::ptr::from_ref(value);
        if flat.open.contains(&place) {
            flat.besides.push(Shape::Cycle(self.names.get(&place).cloned().unwrap_or_else(|| "object".to_owned())));
            return;
        }
        if !flat.merged.insert(place) {
            return;
        }
        if flat.merged.len() > MAX_MERGED || self.parts >= self.most_parts {
            if !flat.besides.iter().any(|known| matches!(known, Shape::Cut(_))) {
                flat.besides.push(Shape::Cut("parts of allOf".to_owned()));
            }
            return;
        }
        flat.open.push(place);
        self.parts += 1;
        if value.get("$ref").is_some_and(Value::is_string) {
            match self.library.resolve(node) {
                Ok((target, _)) => self.gather(target, flat),
                Err(reason) => {
                    let shape = self.unresolved_shape(node, reason);
                    flat.besides.push(shape);
                }
            }
        }
        match value.get("type") {
            Some(Value::String(one)) => flat.add_type(one),
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).for_each(|t| flat.add_type(t)),
            _ => {}
        }
        let at = |value: &'a Value| Node { document, value };
        flat.nullable |= value.get("nullable") == Some(&Value::Bool(true));
        flat.format = flat.format.or(text(value, "format"));
        flat.default = flat.default.or(value.get("default"));
        let items = value.get("items").filter(|items| items.is_object());
        flat.items = flat.items.or(items.or(list(value, "prefixItems").first()).map(at));
        if flat.values.is_empty() {
            flat.values = match (list(value, "enum"), value.get("const")) {
                ([], Some(only)) => std::slice::from_ref(only),
                (values, _) => values,
            };
        }
        let patterns = value.get("patternProperties").and_then(Value::as_object);
        let rest = value.get("additionalProperties").or(patterns.and_then(|patterns| patterns.values().next()));
        flat.rest = flat.rest.or(rest.filter(|rest| rest.is_object()).map(at));
        flat.required.extend(list(value, "required").iter().filter_map(Value::as_str));
        for (name, property) in value.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.parts += 1;
            // A later definition is more specific and overrides an earlier one.
            flat.properties.insert(name, at(property));
        }
        self.parts += list(value, "oneOf").len() + list(value, "anyOf").len() + list(value, "required").len();
        flat.one_of.extend(list(value, "oneOf").iter().map(at));
        flat.any_of.extend(list(value, "anyOf").iter().map(at));
        for part in list(value, "allOf") {
            self.gather(at(part), flat);
        }
        flat.open.pop();
    }

    /// Returns the shape of a schema, ignoring its name.
    fn own_shape(&mut self, node: Node<'a>, depth: usize) -> Shape {
        if self.parts >= self.most_parts || depth > MAX_DEPTH {
            return Shape::Cut("object".to_owned());
        }
        let mut flat = self.flat(node);
        if flat.is_object() {
            return self.object(flat, depth + 1);
        }
        if let Some(stop) = flat.besides.pop() {
            return stop;
        }
        if let Some(items) = flat.items {
            return Shape::List(Box::new(self.inner(items, depth + 1)));
        }
        if !flat.values.is_empty() {
            return Shape::Word(shape::enumeration(flat.values));
        }
        for (variants, make) in [(&flat.one_of, Shape::OneOf as fn(Vec<Shape>) -> Shape), (&flat.any_of, Shape::AnyOf)]
        {
            if !variants.is_empty() {
                return self.variants(variants, make, depth + 1);
            }
        }
        if flat.types == ["array"] {
            return Shape::List(Box::new(Shape::Word("any".to_owned())));
        }
        Shape::Word(flat.scalar())
    }

    fn object(&mut self, flat: Flat<'a>, depth: usize) -> Shape {
        let is = |node: &Node<'_>, key: &str| node.value.get(key) == Some(&Value::Bool(true));
        let mut fields = Vec::with_capacity(flat.properties.len());
        for (name, node) in flat.properties {
            let (read, write) = (is(&node, "readOnly"), is(&node, "writeOnly"));
            fields.push(Field {
                name: name.to_owned(),
                shape: self.inner(node, depth),
                required: flat.required.contains(name),
                read_only: read && !write,
                write_only: write && !read,
            });
        }
        let rest = flat.rest.map(|rest| Box::new(self.inner(rest, depth)));
        let mut besides = flat.besides;
        for (variants, make) in [(flat.one_of, Shape::OneOf as fn(Vec<Shape>) -> Shape), (flat.any_of, Shape::AnyOf)] {
            let shapes: Vec<Shape> = variants.into_iter().map(|variant| self.inner(variant, depth)).collect();
            // Variants that only declare combinations of required fields have no shape.
            if shapes.iter().any(|shape| !matches!(shape, Shape::Word(_))) {
                besides.push(make(shapes));
            }
        }
        Shape::Object { fields, rest, besides }
    }

    fn variants(&mut self, variants: &[Node<'a>], make: fn(Vec<Shape>) -> Shape, depth: usize) -> Shape {
        let is_null = |node: &&Node<'_>| text(node.value, "type") == Some("null");
        let mut shapes: Vec<Shape> = Vec::new();
        for variant in variants.iter().filter(|variant| !is_null(variant)) {
            let shape = self.inner(*variant, depth);
            if shapes.last() != Some(&shape) {
                shapes.push(shape);
            }
        }
        if shapes.len() == 1 {
            return shapes.remove(0);
        }
        make(shapes)
    }

    fn line(&mut self, node: Node<'a>, depth: usize) -> String {
        let flat = self.flat(node);
        if flat.is_object() {
            return "object".to_owned();
        }
        if let Some(items) = flat.items {
            return match depth {
                0 => "array".to_owned(),
                _ => format!("array of {}", self.line(items, depth - 1)),
            };
        }
        if depth > 0 && flat.types.is_empty() && !(flat.one_of.is_empty() && flat.any_of.is_empty()) {
            let variants = flat.one_of.iter().chain(&flat.any_of).take(8);
            let names: BTreeSet<String> = variants.map(|variant| self.line(*variant, depth - 1)).collect();
            return cut::sentences(&Vec::from_iter(names).join(" or "), 80);
        }
        flat.scalar()
    }
}

/// Returns the node if it is only a reference: directly, or as the only part of `allOf`; annotations are ignored.
fn alias(node: Node<'_>) -> Option<Node<'_>> {
    const PARTS: [&str; 8] =
        ["properties", "allOf", "oneOf", "anyOf", "items", "enum", "additionalProperties", "required"];
    let says_more = |without: &str| PARTS.iter().any(|part| *part != without && node.value.get(part).is_some());
    if node.value.get("$ref").is_some_and(Value::is_string) {
        return (!says_more("")).then_some(node);
    }
    match list(node.value, "allOf") {
        [only] if !says_more("allOf") => alias(Node { value: only, ..node }),
        _ => None,
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
        !self.properties.is_empty() || self.rest.is_some()
    }

    /// Renders a scalar such as `string (date) or null`; an undeclared type is inferred from the enumerated values.
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
        // Formats such as `int32` are irrelevant to a caller; `date`, `binary` or `email` are not.
        if let Some(format) = self.format.filter(|_| types == ["string"]) {
            name.push_str(&format!(" ({format})"));
        }
        if self.nullable {
            name.push_str(" or null");
        }
        cut::sentences(&name, 80)
    }
}

/// Returns `Order` for `#/components/schemas/Order`, `order` for `parts/order.yaml`.
fn reference_name(reference: &str) -> String {
    let last = reference.trim_end_matches(['#', '/']).rsplit(['/', '#']).next().unwrap_or_default();
    let stem = [".yaml", ".yml", ".json"].iter().find_map(|end| last.strip_suffix(end)).unwrap_or(last);
    let name = stem.replace("~1", "/").replace("~0", "~");
    if name.is_empty() { "object".to_owned() } else { cut::sentences(&name, 120) }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
