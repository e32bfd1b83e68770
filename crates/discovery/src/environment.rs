//! Expands `${NAME}` in texts of a catalog file.

/// Looks up a variable by name; `None` if it is not set. The library never reads the environment of the process itself.
pub(crate) type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// Why the variables of a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EnvironmentError {
    /// The closing brace of a variable is missing.
    #[error("`${{` has no closing `}}`")]
    Unclosed,
    /// A variable is not set.
    #[error("the environment variable `{0}` is not set")]
    NotSet(String),
}

/// Replaces each `${NAME}` by its value.
pub(crate) fn environment(text: &str, lookup: Environment<'_>) -> Result<String, EnvironmentError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let length = rest[start..].find('}').ok_or(EnvironmentError::Unclosed)?;
        let name = &rest[start + 2..start + length];
        let value = lookup(name).ok_or_else(|| EnvironmentError::NotSet(name.to_owned()))?;
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Replaces each `${NAME}` in a URL. Values within the user or the password are percent-encoded; a value that is the whole URL, or follows
/// the `@`, is used as is.
pub(crate) fn url_environment(url: &str, lookup: Environment<'_>) -> Result<String, EnvironmentError> {
    let (Some(scheme), Some(at)) = (url.find("://"), url.rfind('@')) else { return environment(url, lookup) };
    if scheme > at {
        return environment(url, lookup);
    }
    let encoded = |name: &str| lookup(name).map(|value| percent_encode(&value));
    let (user, rest) = url[scheme + 3..].split_at(at - scheme - 3);
    Ok(format!("{}{}{}", &url[..scheme + 3], environment(user, &encoded)?, environment(rest, lookup)?))
}

/// Percent-encodes a text as a part of a URL.
fn percent_encode(text: &str) -> String {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if letters(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

/// Adds the AWS credentials of the environment, if any, to a DynamoDB URL without credentials.
pub(crate) fn with_key(url: String, lookup: Environment<'_>) -> String {
    let Some(rest) = url.strip_prefix("dynamodb://").filter(|rest| !rest.contains('@')) else { return url };
    let (Some(id), Some(secret)) = (lookup("AWS_ACCESS_KEY_ID"), lookup("AWS_SECRET_ACCESS_KEY")) else { return url };
    let mark = if rest.contains('?') { '&' } else { '?' };
    let token = lookup("AWS_SESSION_TOKEN").map(|token| format!("{mark}session_token={}", percent_encode(&token)));
    format!("dynamodb://{}:{}@{rest}{}", percent_encode(&id), percent_encode(&secret), token.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expands_variables_and_names_missing_ones() {
        let lookup = |name: &str| (name == "DATA").then(|| "/data".to_owned());
        assert_eq!(environment("${DATA}/x.csv", &lookup).unwrap(), "/data/x.csv");
        assert_eq!(environment("plain $5", &lookup).unwrap(), "plain $5");
        assert_eq!(
            environment("${NOPE}", &lookup).unwrap_err().to_string(),
            "the environment variable `NOPE` is not set"
        );
        assert!(environment("${DATA", &lookup).is_err());
    }

    #[test]
    fn adds_aws_credentials_to_dynamodb_urls() {
        let lookup = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIA".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("a/b+c".to_owned()),
            "AWS_SESSION_TOKEN" => Some("x=".to_owned()),
            _ => None,
        };
        let check = |url: &str, expected: &str| assert_eq!(with_key(url.to_owned(), &lookup), expected);
        check("dynamodb://eu-north-1", "dynamodb://AKIA:a%2Fb%2Bc@eu-north-1?session_token=x%3D");
        check("dynamodb://k:s@eu-north-1", "dynamodb://k:s@eu-north-1");
        check("mongodb://db/crm", "mongodb://db/crm");
        assert_eq!(with_key("dynamodb://x?endpoint=y".into(), &|_| None), "dynamodb://x?endpoint=y");
    }
}
