//! Entries of HTTP services: `elasticsearch: https://host:9200` and `bigquery: {project: ...}`.

use std::path::Path;

use prospector_connect::source::{Access, BigquerySource, ElasticsearchSource, Source};

use crate::catalog::{
    entry::Fields,
    environment::url_environment,
    file_schema::{BigqueryEntry, DatabaseEntry},
};

/// The keys that require `elasticsearch`.
const KEYS: [&str; 5] = ["indices", "token", "api_key", "user", "password"];

/// Checks the `elasticsearch` of an entry and its credentials, which are never shown.
pub(super) fn read_elasticsearch(fields: &mut Fields<'_>, written: &DatabaseEntry) -> Option<Source> {
    let Some(url) = &written.elasticsearch else {
        let given = KEYS.iter().find(|key| fields.has(key));
        if let Some(key) = given.filter(|_| !fields.has("elasticsearch")) {
            let reason = format!("`{key}` requires `elasticsearch`");
            fields.fail(fields.line(), reason, "write `elasticsearch: https://host:9200`, or remove it");
        }
        return None;
    };
    let access = read_access(fields, written);
    let made = url_environment(url, fields.reader.lookup)
        .map_err(|error| (error.to_string(), "set it, or write the value itself"))
        .and_then(|url| {
            let made = ElasticsearchSource::new(&url, access, written.indices.as_deref().unwrap_or_default());
            made.map_err(|error| (error.to_string(), "write `elasticsearch: https://host:9200`"))
        });
    let line = fields.line_of("elasticsearch");
    made.map_err(|(reason, advice)| fields.fail(line, format!("`elasticsearch`: {reason}"), advice))
        .ok()
        .map(Source::Elasticsearch)
}

/// Checks the credentials.
fn read_access(fields: &mut Fields<'_>, written: &DatabaseEntry) -> Access {
    let line = fields.line();
    let given: Vec<&str> = ["token", "api_key", "user"].into_iter().filter(|key| fields.has(key)).collect();
    if given.len() > 1 {
        let reason = format!("several kinds of credentials: {}", given.join(", "));
        fields.fail(line, reason, "write one of `token`, `api_key`, or `user` with `password`");
    }
    if fields.has("user") != fields.has("password") {
        fields.fail(line, "`user` and `password` go together", "write both");
    }
    let mut expand = |key: &str, text: &Option<String>| fields.expand(key, text.clone());
    let (token, key) = (expand("token", &written.token), expand("api_key", &written.api_key));
    let (user, password) = (expand("user", &written.user), expand("password", &written.password));
    match (token, key, user) {
        (Some(token), ..) => Access::Token(token),
        (_, Some(key), _) => Access::ApiKey(key),
        (.., Some(user)) => Access::User(user, password.unwrap_or_default()),
        _ => Access::Open,
    }
}

/// Checks the mapping `bigquery` of an entry.
pub(super) fn read_bigquery(fields: &mut Fields<'_>, written: BigqueryEntry) -> Option<Source> {
    let mut fields = fields.inner("bigquery");
    let line = fields.line();
    let project = fields.expand("project", Some(written.project));
    let (credentials, token) =
        (fields.expand("credentials", written.credentials), fields.expand("token", written.token));
    let (location, endpoint) =
        (fields.expand("location", written.location), fields.expand("endpoint", written.endpoint));
    let access = match (credentials, token) {
        (Some(path), None) => {
            let folder = Path::new(fields.reader.file).parent().unwrap_or(Path::new(""));
            Access::KeyFile(folder.join(path))
        }
        (None, Some(token)) => Access::Token(token),
        (given, _) => {
            let reason = if given.is_some() { "several kinds of credentials" } else { "missing credentials" };
            let advice = "write one of `credentials: key.json` and `token: ${NAME}`";
            fields.fail(line, format!("{reason}: `credentials`, `token`"), advice);
            return None;
        }
    };
    let datasets = written.datasets.unwrap_or_default();
    let mut made = BigquerySource::new(&project?, &datasets, access).map(|source| source.in_location(location));
    if let Some(endpoint) = endpoint {
        made = made.and_then(|source| source.at(&endpoint));
    }
    match written.max_gigabytes {
        None => {}
        Some(number) if number > 0.0 && number <= 1e6 => {
            made = made.map(|source| source.with_max_bytes_billed((number * f64::from(1 << 30)) as u64));
        }
        Some(_) => fields.fail(
            fields.line_of("max_gigabytes"),
            "`max_gigabytes` must be a number above 0",
            "write `max_gigabytes: 10`",
        ),
    }
    made.map_err(|error| fields.fail(line, error.to_string(), "correct `bigquery`")).ok().map(Source::Bigquery)
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
