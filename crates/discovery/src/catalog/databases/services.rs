//! Entries of HTTP services: `elasticsearch: https://host:9200` and `bigquery: {project: ...}`.

use std::path::Path;

use prospector_connect::source::{Access, BigquerySource, ElasticsearchSource, Source};

use crate::catalog::{
    entry::{EntryReader, optional, require},
    environment::{Environment, url_environment},
    file_schema::BigqueryEntry,
    node::{Fields, Node, Placed},
};

/// The keys that require `elasticsearch`.
const KEYS: [&str; 6] = ["elasticsearch", "indices", "token", "api_key", "user", "password"];

/// Parses the `elasticsearch` of an entry and its credentials, which are never shown.
pub(super) fn elasticsearch(fields: &mut Fields<'_>, lookup: Environment<'_>) -> Option<Source> {
    let is_named = fields.has("elasticsearch");
    let line = fields.line();
    if !is_named {
        let given = KEYS.iter().find(|key| fields.has(key));
        if let Some(key) = given {
            let reason = format!("`{key}` requires `elasticsearch`");
            fields.fail(line, reason, "write `elasticsearch: https://host:9200`, or remove it");
        }
        return None;
    }
    let (written, line) = fields.text("elasticsearch")?;
    let indices = fields.texts("indices");
    let access = access(fields, lookup);
    let made = url_environment(&written, lookup)
        .map_err(|error| (error.to_string(), "set it, or write the value itself"))
        .and_then(|url| {
            let made = ElasticsearchSource::new(&url, access, &indices);
            made.map_err(|error| (error.to_string(), "write `elasticsearch: https://host:9200`"))
        });
    made.map_err(|(reason, advice)| fields.fail(line, format!("`elasticsearch`: {reason}"), advice))
        .ok()
        .map(Source::Elasticsearch)
}

/// Parses the credentials.
fn access(fields: &mut Fields<'_>, lookup: Environment<'_>) -> Access {
    let line = fields.line();
    let given: Vec<&str> = ["token", "api_key", "user"].into_iter().filter(|key| fields.has(key)).collect();
    if given.len() > 1 {
        let reason = format!("several kinds of credentials: {}", given.join(", "));
        fields.fail(line, reason, "write one of `token`, `api_key`, or `user` with `password`");
    }
    if fields.has("user") != fields.has("password") {
        fields.fail(line, "`user` and `password` go together", "write both");
    }
    let mut take = |key: &str| optional(fields, key, lookup);
    let (token, key, user, password) = (take("token"), take("api_key"), take("user"), take("password"));
    match (token, key, user) {
        (Some(token), ..) => Access::Token(token),
        (_, Some(key), _) => Access::ApiKey(key),
        (.., Some(user)) => Access::User(user, password.unwrap_or_default()),
        _ => Access::Open,
    }
}

/// Removes and parses the mapping `bigquery` of an entry; `Err` if it is invalid, which is reported.
pub(super) fn bigquery(reader: &mut EntryReader<'_>, what: &str, entry: &mut Placed) -> Result<Option<Source>, ()> {
    let (file, lookup) = (reader.file, reader.lookup);
    let Node::Map(map) = &mut entry.node else { return Ok(None) };
    let Some(placed) = map.shift_remove("bigquery") else { return Ok(None) };
    let mut fields = reader.fields::<BigqueryEntry>(format!("`bigquery` of {what}"), placed).ok_or(())?;
    let line = fields.line();
    let datasets = fields.texts("datasets");
    let gigabytes = fields.text("max_gigabytes");
    let mut take = |key: &str| optional(&mut fields, key, lookup);
    let (project, credentials, token) = (take("project"), take("credentials"), take("token"));
    let (location, endpoint) = (take("location"), take("endpoint"));
    let project = require(&mut fields, "project", "the owner of the datasets", project).ok_or(())?;
    let access = match (credentials, token) {
        (Some(path), None) => {
            let folder = Path::new(file).parent().unwrap_or(Path::new(""));
            Access::KeyFile(folder.join(path))
        }
        (None, Some(token)) => Access::Token(token),
        (given, _) => {
            let reason = if given.is_some() { "several kinds of credentials" } else { "missing credentials" };
            let advice = "write one of `credentials: key.json` and `token: ${NAME}`";
            fields.fail(line, format!("{reason}: `credentials`, `token`"), advice);
            return Err(());
        }
    };
    let mut made = BigquerySource::new(&project, &datasets, access).map(|source| source.in_location(location));
    if let Some(endpoint) = endpoint {
        made = made.and_then(|source| source.at(&endpoint));
    }
    if let Some((written, line)) = gigabytes {
        match written.parse::<f64>() {
            Ok(number) if number > 0.0 && number <= 1e6 => {
                made = made.map(|source| source.with_max_bytes_billed((number * f64::from(1 << 30)) as u64));
            }
            _ => fields.fail(line, "`max_gigabytes` must be a number above 0", "write `max_gigabytes: 10`"),
        }
    }
    let made = made.map_err(|error| fields.fail(line, error.to_string(), "correct `bigquery`"))?;
    if fields.has_failed() { Err(()) } else { Ok(Some(Source::Bigquery(made))) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::catalog::file::parse;

    fn check(text: &str, expected: Result<&str, &str>) {
        let lookup = |name: &str| (name == "SECRET").then(|| "s3cr/t".to_owned());
        let text = format!("databases:\n- {text}\n");
        let (file, problems) = parse(Path::new("/shop/catalog.yaml"), &text, &lookup).unwrap();
        let written = format!("{file:?}{problems:?}");
        assert!(!written.contains("s3cr/t") && !written.contains("s3cr%2Ft"), "{written}");
        match expected {
            Ok(shown) => {
                assert!(problems.is_empty(), "{problems:?}");
                let service = file.databases[0].service.as_ref().unwrap();
                let found = format!("{service} {service:?}");
                assert!(found.contains(shown), "{found}");
            }
            Err(part) => {
                assert!(file.databases.is_empty() && problems.len() == 1, "{problems:?}");
                assert!(problems[0].to_string().contains(part), "{problems:?}");
            }
        }
    }

    #[test]
    fn a_service_is_an_entry_and_its_secrets_are_shown_nowhere() {
        check("elasticsearch: https://es:9200", Ok("https://es:9200, https://es:9200/, open"));
        check("{elasticsearch: 'https://es', token: '${SECRET}', indices: [logs-*]}", Ok("a token, [\"logs-*\"]"));
        check("{elasticsearch: 'https://es', user: ada, password: '${SECRET}'}", Ok("user ada"));
        check("elasticsearch: https://ada:${SECRET}@es", Ok("user ada"));
        check("{elasticsearch: 'https://es', user: ada}", Err("`user` and `password` go together"));
        check("{elasticsearch: 'https://es', token: a, api_key: b}", Err("several kinds of credentials"));
        check("{elasticsearch: 'es:9200', token: '${SECRET}'}", Err("`elasticsearch`: the URL"));
        check("{path: a.db, token: '${SECRET}'}", Err("`token` requires `elasticsearch`"));
        check("{elasticsearch: 'https://es', path: a.db}", Err("both"));
        check("bigquery: {project: shop, credentials: key.json}", Ok("bigquery:shop"));
        check("bigquery: {project: shop, credentials: key.json}", Ok("key file /shop/key.json"));
        check(
            "bigquery: {project: shop, token: '${SECRET}', datasets: [a], max_gigabytes: 1}",
            Ok("[\"a\"], 1073741824"),
        );
        check("bigquery: {project: shop}", Err("missing credentials"));
        check("bigquery: {token: '${SECRET}'}", Err("`project` is missing"));
        check("bigquery: {project: 'a b', token: '${SECRET}'}", Err("is not a valid name of a project"));
        check("bigquery: {project: a, token: '${SECRET}', max_gigabytes: lots}", Err("must be a number"));
        check("bigquery: shop", Err("must be a mapping"));
    }
}
