//! Redacts secrets in URLs.

use std::borrow::Cow;

/// Replaces a user and a password.
const HIDDEN: &str = "***";
/// Replaces parameters and the fragment.
const LEFT_OUT: &str = "…";

/// Redacts possible secrets in the URLs of a text: passwords, all parameters and the fragment; with `http` and `https` also users, since
/// tokens are sent as users. `postgres://me:secret@db/crm?sslkey=x` becomes `postgres://me:***@db/crm?…`. This includes URLs whose
/// slashes were collapsed like a path (`postgres:/me:secret@db`).
///
/// All foreign text that is echoed goes through here. Texts without URLs and redacted texts are returned unchanged.
pub fn conceal(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(colon) = text[from..].find(":/").map(|at| from + at) {
        from = colon + 2;
        let Some(scheme) = scheme_before(&text[copied..colon]) else { continue };
        let start = colon + 1 + text[colon + 1..].bytes().take_while(|byte| *byte == b'/').count();
        let end = text[start..].find(ends_url).map_or(text.len(), |at| start + at);
        from = end;
        let shown = show(scheme, &text[start..end]);
        if shown != text[start..end] {
            out.push_str(&text[copied..start]);
            out.push_str(&shown);
            copied = end;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the scheme at the end of `text`. A single letter is a Windows drive.
fn scheme_before(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let start = text.rfind(|c| !is_part(c)).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let scheme = text[start..].trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    (scheme.len() > 1).then_some(scheme)
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '`' | '<' | '>')
}

/// Returns the redacted rest of a URL after its slashes.
fn show<'a>(scheme: &str, rest: &'a str) -> Cow<'a, str> {
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let path = rest.find(['?', '#']).unwrap_or(rest.len());
    // An unencoded password may contain any of these characters; a port contains only digits.
    let at = match rest[..authority].split_once(':') {
        _ if rest[..authority].contains('@') => rest[..path].rfind('@'),
        Some((_, after)) if after.is_empty() || after.bytes().any(|byte| !byte.is_ascii_digit()) => rest.rfind('@'),
        _ => None,
    };
    let user = at.map_or("", |at| match rest[..at].split_once(':') {
        Some((user, _)) if !is_web(scheme) => user,
        None if !is_web(scheme) => &rest[..at],
        _ => "",
    });
    let host = &rest[at.map_or(0, |at| at + 1)..];
    let end = host.find(['?', '#']).unwrap_or(host.len());
    let mark = host[end..].chars().next();
    let has_password = at.is_some_and(|at| is_web(scheme) || rest[..at].contains(':'));
    if !has_password && mark.is_none() {
        return Cow::Borrowed(rest);
    }
    let mut shown = match (has_password, user) {
        (false, "") => String::new(),
        (false, user) => format!("{user}@"),
        (true, "") => format!("{HIDDEN}@"),
        (true, user) => format!("{user}:{HIDDEN}@"),
    };
    shown.push_str(&host[..end]);
    if let Some(mark) = mark {
        shown.push(mark);
        shown.push_str(LEFT_OUT);
    }
    Cow::Owned(shown)
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(conceal(text), expected);
        assert_eq!(conceal(expected), expected, "concealing twice changes nothing");
    }

    #[test]
    fn redacts_passwords_and_parameters() {
        check("postgres://me:s3cret@db:5432/crm", "postgres://me:***@db:5432/crm");
        check(
            "there is no file ./postgres://me:s3@cret@db/crm, is there",
            "there is no file ./postgres://me:***@db/crm, is there",
        );
        check("there is no file /x/postgres:/me:s3cret@db/crm", "there is no file /x/postgres:/me:***@db/crm");
        check("`mysql://:s3cret@db`: wrong", "`mysql://***@db`: wrong");
        check("https://ghp_s3cret@host/a", "https://***@host/a");
        check("https://me:s3cret@host/a?key=s3cret#s3cret b", "https://***@host/a?… b");
        check("https://host#s3cret", "https://host#…");
        check("a redis://h/0?p=s3cret and a redis://:s3cret@h", "a redis://h/0?… and a redis://***@h");
        check("mongodb+srv://me:s3cret@a,b/?w=1", "mongodb+srv://me:***@a,b/?…");
    }

    #[test]
    fn redacts_unencoded_passwords() {
        for password in ["s3/cret", "s3#cret", "s3?cret", "s3:c/ret", "s3@c/ret", "///"] {
            check(&format!("postgres://me:{password}@db/crm"), "postgres://me:***@db/crm");
        }
    }

    #[test]
    fn leaves_text_without_secrets_unchanged() {
        for text in [
            "",
            "a: b",
            "C:/data/x?.csv",
            "https://host:8080/@user/page",
            "postgres://me@db/crm",
            "file:///data/x.csv",
            "see https://docs.example/a, or s3://bucket/key",
            "://x:y@z",
            "größe:/x",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn handles_many_colons_in_linear_time() {
        let text = "a:/".repeat(300_000);
        assert!(!conceal(&text).is_empty());
        let text = "https://a:b".repeat(100_000);
        assert!(!conceal(&text).is_empty());
    }
}
