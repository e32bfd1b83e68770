//! OpenAPI 3.0 to operations.

use std::collections::HashSet;

use openapiv3::{Content, MediaType, ParameterSchemaOrContent, ReferenceOr, Responses, SecurityScheme, StatusCode};
use prospector_core::Problem;
use serde_json::{Value, json};

use crate::{
    Location, Operation, Parameter,
    document::{escaped, lookup, unresolved},
    frame, naming, prose,
    schema::{Schemas, Side},
};

/// The methods that a path can have, in the order in which they are listed.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// How long a description is kept, in characters: of an API or an operation, and of a parameter.
pub(crate) const DESCRIPTION: usize = 1_000;
pub(crate) const REMARK: usize = 200;

type Requirements = Vec<openapiv3::SecurityRequirement>;

/// What a description says of an API; its name is the catalog's.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Where it is served.
    pub(crate) url: Option<String>,
    /// The title and the description.
    pub(crate) description: String,
    /// What it can do.
    pub(crate) operations: Vec<Operation>,
}

/// Reads a parsed document; what cannot be used of it is a problem at `place: METHOD /path`.
pub(crate) fn read(root: &Value, place: &str) -> (Parts, Vec<Problem>) {
    let mut reader = Reader {
        root,
        place,
        schemas: Schemas::new(root),
        security: root.get("security").and_then(|security| serde_json::from_value(security.clone()).ok()),
        operations: Vec::new(),
        problems: Vec::new(),
        warned: HashSet::new(),
    };
    match root.get("paths") {
        Some(Value::Object(paths)) => {
            for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
                reader.path(path, item);
            }
        }
        Some(_) => reader.problems.push(Problem::error(place, "`paths` is no object")),
        None => reader.problems.push(Problem::error(place, "it has no `paths`")),
    }
    let Reader { mut operations, problems, .. } = reader;
    naming::assign(&mut operations);
    let info = |key: &str| root.pointer(&format!("/info/{key}")).and_then(Value::as_str).unwrap_or_default();
    let description = prose::opening(&prose::joined(info("title"), info("description")), DESCRIPTION);
    (Parts { url: server(root), description, operations }, problems)
}

/// The first server, its variables filled in with their defaults.
fn server(root: &Value) -> Option<String> {
    let server = root.pointer("/servers/0")?;
    let mut url = server.get("url")?.as_str()?.to_owned();
    for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
        if let Some(default) = variable.get("default").and_then(Value::as_str) {
            url = url.replace(&format!("{{{name}}}"), default);
        }
    }
    Some(url).filter(|url| !url.is_empty() && url != "/")
}

struct Reader<'a> {
    root: &'a Value,
    place: &'a str,
    schemas: Schemas<'a>,
    security: Option<Requirements>,
    operations: Vec<Operation>,
    problems: Vec<Problem>,
    warned: HashSet<String>,
}

impl<'a> Reader<'a> {
    fn path(&mut self, path: &str, item: &'a Value) {
        let mut pointer = format!("/paths/{}", escaped(path));
        let mut item = item;
        if let Some(reference) = item.get("$ref").and_then(Value::as_str) {
            let Some(target) = lookup(self.root, reference) else {
                self.problems.push(Problem::error(format!("{}: {path}", self.place), unresolved(reference)));
                return;
            };
            pointer = reference.trim_start_matches('#').to_owned();
            item = target;
        }
        if !item.is_object() || !path.starts_with('/') {
            let reason = if item.is_object() { "a path must begin with `/`" } else { "the path is no object" };
            self.problems.push(Problem::error(format!("{}: {path}", self.place), reason));
            return;
        }
        let mut shared = Vec::new();
        let shared_place = format!("{}: {path}", self.place);
        for (number, parameter) in item.get("parameters").and_then(Value::as_array).into_iter().flatten().enumerate() {
            match frame::piece(parameter, &format!("{pointer}/parameters/{number}")) {
                Ok(parameter) => self.add_parameter(&mut shared, parameter, &shared_place),
                Err(reason) => self.warn(&shared_place, &format!("parameter {number}"), &reason),
            }
        }
        for method in METHODS {
            if let Some(value) = item.get(method) {
                let route = format!("{} {path}", method.to_uppercase());
                let place = format!("{}: {route}", self.place);
                match frame::operation(value, &format!("{pointer}/{method}")) {
                    Ok((operation, left_out)) => {
                        for (part, reason) in left_out {
                            self.warn(&place, &part, &reason);
                        }
                        self.operation(method, path, operation, shared.clone(), &place);
                    }
                    Err(reason) => {
                        let problem = Problem::error(place, format!("the operation cannot be read: {reason}"));
                        self.problems.push(problem.advise("correct it; the other operations are loaded"));
                    }
                }
            }
        }
    }

    fn operation(
        &mut self,
        method: &str,
        path: &str,
        operation: openapiv3::Operation,
        mut parameters: Vec<Parameter>,
        place: &str,
    ) {
        for parameter in operation.parameters {
            self.add_parameter(&mut parameters, parameter, place);
        }
        let request_body = operation.request_body.and_then(|body| match frame::resolved(self.root, body) {
            Ok(body) => preferred(&body.content).map(|(name, media)| self.body(name, media, Side::Request)),
            Err(reason) => {
                self.warn(place, "request body", &reason);
                None
            }
        });
        let response_schema = self.response(operation.responses, place);
        let auth = self.auth(operation.security.as_ref(), place);
        for reference in std::mem::take(&mut self.schemas.missing) {
            self.warn_once(place, unresolved(&reference));
        }
        let description = prose::joined(
            operation.summary.as_deref().unwrap_or_default(),
            operation.description.as_deref().unwrap_or_default(),
        );
        self.operations.push(Operation {
            name: operation.operation_id.unwrap_or_default(),
            method: method.to_uppercase(),
            path: path.to_owned(),
            description: prose::opening(&description, DESCRIPTION),
            tags: operation.tags,
            deprecated: operation.deprecated,
            parameters,
            request_body,
            response_schema,
            auth,
        });
    }

    /// Adds a parameter; one of the same name and location is replaced.
    fn add_parameter(&mut self, to: &mut Vec<Parameter>, piece: ReferenceOr<openapiv3::Parameter>, place: &str) {
        let parameter = match frame::resolved(self.root, piece) {
            Ok(parameter) => parameter,
            Err(reason) => return self.warn(place, "a parameter", &reason),
        };
        let location = match &parameter {
            openapiv3::Parameter::Query { .. } => Location::Query,
            openapiv3::Parameter::Header { .. } => Location::Header,
            openapiv3::Parameter::Path { .. } => Location::Path,
            openapiv3::Parameter::Cookie { .. } => Location::Cookie,
        };
        let data = parameter.parameter_data();
        let schema = match &data.format {
            ParameterSchemaOrContent::Schema(schema) => self.schema(schema),
            ParameterSchemaOrContent::Content(content) => {
                preferred(content).and_then(|(_, media)| media.schema.as_ref()).and_then(|schema| self.schema(schema))
            }
        };
        let (values, default) = schema.map(|schema| self.schemas.values(schema)).unwrap_or_default();
        let parameter = Parameter {
            name: data.name,
            location,
            r#type: schema.map_or_else(|| "any".to_owned(), |schema| self.schemas.type_name(schema)),
            required: data.required || location == Location::Path,
            description: prose::opening(&prose::plain(&data.description.unwrap_or_default()), REMARK),
            values,
            default,
        };
        match to.iter_mut().find(|known| known.name == parameter.name && known.location == parameter.location) {
            Some(known) => *known = parameter,
            None => to.push(parameter),
        }
    }

    /// The schema itself: in a framed piece there is only a reference to its place.
    fn schema(&self, schema: &ReferenceOr<openapiv3::Schema>) -> Option<&'a Value> {
        match schema {
            ReferenceOr::Reference { reference } => lookup(self.root, reference),
            ReferenceOr::Item(_) => None,
        }
    }

    /// The shape of what succeeds: the lowest 2xx that has one, or the default where there is no 2xx.
    fn response(&mut self, responses: Responses, place: &str) -> Option<Value> {
        let mut good: Vec<_> = responses
            .responses
            .into_iter()
            .filter(|(code, _)| matches!(code, StatusCode::Code(200..=299) | StatusCode::Range(2)))
            .collect();
        good.sort_by(|a, b| a.0.cmp(&b.0));
        let mut candidates: Vec<_> = good.into_iter().map(|(_, response)| response).collect();
        if candidates.is_empty() {
            candidates.extend(responses.default);
        }
        for response in candidates {
            match frame::resolved(self.root, response) {
                Ok(response) => {
                    if let Some((name, media)) = preferred(&response.content) {
                        return Some(self.body(name, media, Side::Response));
                    }
                }
                Err(reason) => self.warn(place, "a response", &reason),
            }
        }
        None
    }

    /// The shape of a body; says which type of content it is, where that is not JSON.
    fn body(&mut self, content_type: &str, media: &MediaType, side: Side) -> Value {
        let json = content_type.contains("json");
        let schema = media.schema.as_ref().and_then(|schema| self.schema(schema));
        let shape = schema.map(|schema| self.schemas.body(schema, side));
        match shape {
            Some(shape) if json => shape,
            None if json => json!("any"),
            None => json!({ "$content": content_type }),
            Some(Value::Object(fields)) => {
                let mut all = serde_json::Map::from_iter([("$content".to_owned(), json!(content_type))]);
                all.extend(fields);
                Value::Object(all)
            }
            Some(shape) => json!({ "$content": content_type, "$body": shape }),
        }
    }

    /// The alternatives, each as one line.
    fn auth(&mut self, own: Option<&Requirements>, place: &str) -> Vec<String> {
        let Some(alternatives) = own.or(self.security.as_ref()).cloned() else { return Vec::new() };
        let mut lines: Vec<String> = Vec::new();
        for alternative in &alternatives {
            let schemes: Vec<String> =
                alternative.iter().map(|(name, scopes)| self.scheme(name, scopes, place)).collect();
            let line = if schemes.is_empty() { "none".to_owned() } else { schemes.join(" + ") };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        // That nothing is needed goes without saying.
        if lines == ["none"] { Vec::new() } else { lines }
    }

    fn scheme(&mut self, name: &str, scopes: &[String], place: &str) -> String {
        let pointer = format!("/components/securitySchemes/{}", escaped(name));
        let Some(value) = self.root.pointer(&pointer) else {
            self.warn_once(place, format!("there is no security scheme `{name}`"));
            return name.to_owned();
        };
        let scheme = frame::piece(value, &pointer).and_then(|scheme| frame::resolved(self.root, scheme));
        let kind = match scheme {
            Ok(SecurityScheme::HTTP { scheme, .. }) => format!("{} (http)", scheme.to_lowercase()),
            Ok(SecurityScheme::APIKey { location, name, .. }) => {
                let location = match location {
                    openapiv3::APIKeyLocation::Query => "query",
                    openapiv3::APIKeyLocation::Header => "header",
                    openapiv3::APIKeyLocation::Cookie => "cookie",
                };
                format!("api_key in {location} {name}")
            }
            Ok(SecurityScheme::OAuth2 { .. }) => "oauth2".to_owned(),
            Ok(SecurityScheme::OpenIDConnect { .. }) => "openid_connect".to_owned(),
            Err(_) => value.get("type").and_then(Value::as_str).unwrap_or(name).to_owned(),
        };
        match scopes {
            [] => kind,
            scopes => format!("{kind}: scope {}", scopes.join(", ")),
        }
    }

    fn warn(&mut self, place: &str, part: &str, reason: &str) {
        self.problems.push(Problem::warning(place, format!("{part} is left out: {reason}")));
    }

    /// For what is missing once and may be used by every operation.
    fn warn_once(&mut self, place: &str, reason: String) {
        if self.warned.insert(reason.clone()) {
            self.problems.push(Problem::warning(place, reason));
        }
    }
}

/// JSON before forms before anything else.
fn preferred(content: &Content) -> Option<(&str, &MediaType)> {
    let rank = |name: &str| match name {
        _ if name.starts_with("application/json") => 0,
        _ if name.contains("json") => 1,
        _ if name.contains("form") => 2,
        _ => 3,
    };
    content.iter().map(|(name, media)| (name.as_str(), media)).min_by_key(|(name, _)| rank(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(yaml: &str) -> (Parts, Vec<String>) {
        let (root, _) = crate::document::parse(yaml, "f").unwrap();
        let (parts, problems) = read(&root, "f");
        (parts, problems.iter().map(|p| p.to_string()).collect())
    }

    /// The only operation of `paths: {/a: ..}` as JSON, without what every operation has.
    fn check(path_item: &str, components: &str, expected: Value) {
        let yaml = format!("openapi: 3.0.0\npaths:\n  /a/{{id}}: {path_item}\ncomponents: {components}");
        let (parts, problems) = loaded(&yaml);
        assert_eq!(problems, Vec::<String>::new());
        let [operation] = parts.operations.as_slice() else { panic!("{:?}", parts.operations) };
        let mut json = serde_json::to_value(operation).unwrap();
        let fields = json.as_object_mut().unwrap();
        fields.retain(|key, _| !["name", "method", "path"].contains(&key.as_str()));
        assert_eq!(json, expected);
    }

    #[test]
    fn parameters_of_path_and_operation_are_merged() {
        check(
            r##"{parameters: [{$ref: "#/components/parameters/id"}, {name: page, in: query, schema: {type: string}}],
                get: {parameters: [{name: page, in: query, description: "Which. One.",
                                    schema: {type: integer, default: 1, enum: [1, 2]}}], responses: {}}}"##,
            "{parameters: {id: {name: id, in: path, schema: {type: array, items: {type: string}}}}}",
            json!({"parameters": [
                {"name": "id", "location": "path", "type": "array of string", "required": true},
                {"name": "page", "location": "query", "type": "integer", "description": "Which. One.",
                 "enum": [1, 2], "default": 1}
            ]}),
        );
    }

    #[test]
    fn bodies_and_responses_are_resolved_and_the_first_success_is_shown() {
        check(
            r##"{post: {summary: Add, requestBody: {$ref: "#/components/requestBodies/B"}, responses: {
                   default: {$ref: "#/components/responses/Error"}, "404": {description: no},
                   "201": {$ref: "#/components/responses/R"}, "204": {description: nothing}}}}"##,
            r##"{requestBodies: {B: {content: {application/xml: {}, multipart/form-data: {schema: {$ref: "#/components/schemas/S"}}}}},
                 responses: {R: {description: r, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/S"}}}}},
                             Error: {description: e, content: {application/json: {schema: {type: integer}}}}},
                 schemas: {S: {required: [x], properties: {x: {type: string, format: binary}}}}}"##,
            json!({"description": "Add",
                   "request_body": {"$content": "multipart/form-data", "$required": "all", "x": "string (binary)"},
                   "response_schema": [{"x": "string (binary)"}]}),
        );
    }

    #[test]
    fn a_default_response_counts_where_no_success_is_described() {
        check(
            "{get: {responses: {default: {description: d, content: {text/csv: {}}}}}}",
            "{}",
            json!({"response_schema": {"$content": "text/csv"}}),
        );
    }

    #[test]
    fn security_is_said_in_a_line_each() {
        let schemes = "{securitySchemes: {k: {type: apiKey, in: header, name: X-Key}, b: {type: http, scheme: Bearer},
                         o: {type: oauth2, flows: {}}, m: {type: mutualTLS}}}";
        check(
            "{get: {security: [{k: [], b: []}, {o: [read, write]}, {m: []}, {}], responses: {}}}",
            schemes,
            json!({"auth": ["api_key in header X-Key + bearer (http)", "oauth2: scope read, write", "mutualTLS", "none"]}),
        );
        let global = format!("{schemes}\nsecurity: [{{k: []}}]");
        check("{get: {responses: {}}}", &global, json!({"auth": ["api_key in header X-Key"]}));
        check("{get: {security: [], responses: {}}}", &global, json!({}));
    }

    #[test]
    fn what_is_broken_costs_only_itself_and_is_said() {
        let (parts, problems) = loaded(
            r##"
openapi: 3.0.0
paths:
  x-note: fine
  relative: {get: {}}
  /null: 5
  /gone: {$ref: "#/nowhere"}
  /bad: {get: 7, post: {parameters: [{name: q}], responses: {}}}
  /good:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/No"}}}}}}
    post: {security: [{no: []}], requestBody: {$ref: "other.yaml#/b"}, responses: {}}
"##,
        );
        let routes: Vec<String> = parts.operations.iter().map(Operation::route).collect();
        assert_eq!(routes, ["POST /bad", "GET /good", "POST /good"]);
        assert_eq!(
            problems,
            [
                "error: f: relative: a path must begin with `/`",
                "error: f: /null: the path is no object",
                "error: f: /gone: the reference `#/nowhere` leads nowhere",
                "error: f: GET /bad: the operation cannot be read: it is no object (correct it; the other operations are loaded)",
                "warning: f: POST /bad: parameters q is left out: missing field `in`",
                "warning: f: GET /good: the reference `#/components/schemas/No` leads nowhere",
                "warning: f: POST /good: request body is left out: the reference `other.yaml#/b` leads out of the file, where nothing is read",
                "warning: f: POST /good: there is no security scheme `no`",
            ]
        );
    }

    #[test]
    fn the_api_is_described_by_its_title_and_its_first_server() {
        let (parts, problems) = loaded(
            "openapi: 3.0.0\ninfo: {title: Shop, description: Sells *things*.}\nservers: [{url: 'https://{host}/v1', variables: {host: {default: shop.example}}}]",
        );
        assert_eq!(parts.description, "Shop. Sells *things*.");
        assert_eq!(parts.url.as_deref(), Some("https://shop.example/v1"));
        assert_eq!(problems, ["error: f: it has no `paths`"]);
    }
}
