//! Inline reStructuredText: replaces roles, references and substitutions by their text.

use crate::formats::markup::Replacements;

/// Maximum length of a role name, in bytes.
const MAX_ROLE: usize = 40;

/// Converts a paragraph; literals keep their backquotes.
pub(super) fn plain(text: &str, substitutions: &Replacements) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '|', '\\', '_']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let inside = |open: &str| {
            let inner = rest.strip_prefix(open)?.split_once(open);
            inner.filter(|(inner, _)| !inner.is_empty() && !inner.starts_with(' '))
        };
        if let Some(after) = rest.strip_prefix('\\') {
            let escaped = after.chars().next();
            out.extend(escaped.filter(|c| !c.is_whitespace()));
            rest = &after[escaped.map_or(0, char::len_utf8)..];
        } else if let Some((code, after)) = inside("``") {
            out.push_str(&format!("`{code}`"));
            rest = after;
        } else if let Some((words, after)) = inside("`") {
            // `:rfc:`2616`` refers to a document by number.
            if let Some(series) = take_role(&mut out).filter(|role| matches!(role.as_str(), "rfc" | "pep")) {
                out.push_str(&format!("{} ", series.to_uppercase()));
            }
            out.push_str(target_text(words));
            // References end in an underscore; a role may follow its text.
            let after = after.trim_start_matches('_');
            let role = after.strip_prefix(':').and_then(|role| role.split_once(':')).filter(|(role, _)| is_role(role));
            rest = role.map_or(after, |(_, after)| after);
        } else if let Some((name, after)) = inside("|").filter(|(name, _)| name.len() < 80) {
            match substitutions.get(name) {
                Some(text) => out.push_str(text),
                None => out.push_str(name),
            }
            rest = after.trim_start_matches('_');
        } else {
            let sign = &rest[..1];
            let after = &rest[1..];
            let ends_word = out.ends_with(|c: char| c.is_alphanumeric() || c == ']')
                && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if sign != "_" || !ends_word || last_word(&out).contains('_') {
                out.push_str(sign);
            }
            rest = after;
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn last_word(text: &str) -> &str {
    let start = text.floor_char_boundary(text.len().saturating_sub(80));
    text[start..].rsplit(char::is_whitespace).next().unwrap_or_default()
}

/// Removes `:role:` from the end and returns the name without domain.
fn take_role(out: &mut String) -> Option<String> {
    let start = out.floor_char_boundary(out.len().saturating_sub(MAX_ROLE));
    let before = out[start..].strip_suffix(':')?;
    // A role may have a domain: `:py:func:`.
    let begin = before.trim_end_matches(|c: char| is_role_sign(c) || c == ':').len();
    let colon = begin + before[begin..].find(':')?;
    let role = before[colon + 1..].to_owned();
    if !is_role(&role) {
        return None;
    }
    out.truncate(start + colon);
    Some(role.rsplit(':').next().unwrap_or_default().to_owned())
}

fn is_role(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_ROLE && name.chars().all(|c| is_role_sign(c) || c == ':')
}

fn is_role_sign(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+')
}

/// Returns `text` of `text <target>`, or the last name of `~a.b.c`.
fn target_text(words: &str) -> &str {
    if let Some((text, _)) = words.strip_suffix('>').and_then(|words| words.rsplit_once('<'))
        && !text.trim().is_empty()
    {
        return text.trim();
    }
    match words.strip_prefix('~') {
        Some(path) => path.rsplit('.').next().unwrap_or(path),
        None => words.trim_start_matches('!'),
    }
}
