//! Detects parameters that carry credentials. The program adds their values to a call; plans and models never see
//! them.

use prospector_core::name::is_credential;
use serde_json::Value;

use crate::{
    Operation,
    model::{Location, Parameter},
};

/// A parameter that a security scheme declares as an API key.
pub(crate) struct DeclaredCredential {
    location: Location,
    name: String,
}

/// Returns the API keys declared by the security schemes of OpenAPI 3 or Swagger 2.0.
pub(crate) fn find_declared(root: &Value) -> Vec<DeclaredCredential> {
    let places = ["/components/securitySchemes", "/securityDefinitions"];
    let schemes = places.iter().filter_map(|place| root.pointer(place)?.as_object()).flat_map(|all| all.values());
    let declared = schemes.filter_map(|scheme| {
        let text = |key: &str| scheme.get(key).and_then(Value::as_str);
        let location = match text("in")?.to_ascii_lowercase().as_str() {
            "query" => Location::Query,
            "header" => Location::Header,
            "cookie" => Location::Cookie,
            _ => return None,
        };
        let is_key = text("type")?.eq_ignore_ascii_case("apiKey");
        is_key.then(|| DeclaredCredential { location, name: text("name").unwrap_or_default().to_owned() })
    });
    declared.collect()
}

/// Marks the parameters that carry credentials, and makes them optional: those declared by a security scheme, and
/// those with the name of a credential that every operation with parameters takes. A parameter that only some
/// operations take is assumed to describe the operation.
pub(crate) fn mark(operations: &mut [Operation], declared: &[DeclaredCredential]) {
    let is_declared = |one: &Parameter| {
        declared.iter().any(|known| known.location == one.location && known.name.eq_ignore_ascii_case(&one.name))
    };
    let is_called_so = |one: &Parameter| {
        is_credential(&one.name)
            && matches!(one.location, Location::Query | Location::Header | Location::Cookie)
            && one.values.is_empty()
    };
    let everywhere: Vec<(Location, String)> = operations
        .iter()
        .find(|operation| !operation.parameters.is_empty())
        .into_iter()
        .flat_map(|first| first.parameters.iter().filter(|one| is_called_so(one)))
        .map(|one| (one.location, one.name.clone()))
        .collect();
    let is_taken = |operation: &Operation, (location, name): &(Location, String)| {
        operation.parameters.iter().any(|one| one.location == *location && one.name == *name)
    };
    let shared: Vec<(Location, String)> = everywhere
        .into_iter()
        .filter(|wanted| operations.iter().filter(|one| !one.parameters.is_empty()).all(|one| is_taken(one, wanted)))
        .collect();
    for parameter in operations.iter_mut().flat_map(|operation| &mut operation.parameters) {
        let is_shared =
            shared.iter().any(|(location, name)| *location == parameter.location && *name == parameter.name);
        if is_declared(parameter) || is_shared {
            (parameter.is_credential, parameter.required) = (true, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ApiSource;

    /// Checks the parameters that carry credentials, and whether they are required.
    fn check(text: &str, expected: &[&str]) {
        let (api, problems) = ApiSource::new("x", "").read(text).unwrap();
        assert_eq!(problems, []);
        let parameters = api.operations.iter().flat_map(|operation| &operation.parameters);
        let marked: Vec<&str> =
            parameters.filter(|one| one.is_credential && !one.required).map(|one| one.name.as_str()).collect();
        assert_eq!(marked, expected, "{text}");
    }

    const GET: &str = "get: {responses: {'200': {description: x}}, parameters:";

    #[test]
    fn parameter_of_security_scheme_is_optional() {
        let auth = "components: {securitySchemes: {k: {type: apiKey, in: query, name: app}}}";
        let taken = "[{name: app, in: query, required: true}, {name: q, in: query, required: true}]";
        check(&format!("openapi: 3.0.0\n{auth}\npaths: {{/a: {{{GET} {taken}}}}}}}"), &["app"]);
        let auth = "securityDefinitions: {k: {type: apiKey, in: header, name: X-App}}";
        let taken = "[{name: x-app, in: header, required: true, type: string}]";
        check(&format!("swagger: '2.0'\n{auth}\npaths: {{/a: {{{GET} {taken}}}}}}}"), &["x-app"]);
    }

    #[test]
    fn only_keys_of_every_operation_are_credentials() {
        let key = "[{name: key, in: query, required: true}]";
        check(&format!("openapi: 3.0.0\npaths: {{/a: {{{GET} {key}}}}}, /b: {{{GET} {key}}}}}}}"), &["key", "key"]);
        let other = "[{name: title, in: query}]";
        check(&format!("openapi: 3.0.0\npaths: {{/songs: {{{GET} {key}}}}}, /b: {{{GET} {other}}}}}}}"), &[]);
        let listed = "[{name: key, in: query, schema: {enum: [C, D]}}]";
        check(&format!("openapi: 3.0.0\npaths: {{/songs: {{{GET} {listed}}}}}}}"), &[]);
    }
}
