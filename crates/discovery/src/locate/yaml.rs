//! Renders findings as the text of a catalog.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use prospector_connect::source::SourceKind;
use prospector_core::mark::is_hidden;
use serde_json::Value;

use super::begin::EXAMPLES;
use super::finding::{Address, ApiForm, Finding, FindingKind};

/// The text of a catalog, with the source of each line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// The YAML.
    pub(crate) text: String,
    /// The source of each line as given, without secrets; empty if it has none.
    pub(crate) sources: Vec<String>,
}

/// Renders a catalog with these findings and unchanged paths. The hosts of its URLs may be contacted, even private ones, since the user
/// specified them. Clients of a server may run queries.
pub(crate) fn write(findings: &[Finding]) -> Written {
    let mut written = Written::default();
    let mut line = |text: &str, source: &str| {
        written.text.push_str(text);
        written.text.push('\n');
        written.sources.push(source.to_owned());
    };
    for (key, _) in EXAMPLES {
        let mut found = findings.iter().filter(|finding| finding.section() == key).peekable();
        if found.peek().is_some() {
            line(&format!("{key}:"), "");
        }
        for finding in found {
            line(&format!("- {}", finding.entry(None)), &finding.source);
        }
    }
    let hosts: BTreeSet<String> = findings.iter().filter_map(Finding::host).map(|host| quote(&host)).collect();
    // Sources on the command line are meant to be queried, and queries cannot access more than these sources.
    line("queries: true", "");
    if !hosts.is_empty() {
        line(&format!("fetch: {{allow: [{}]}}", hosts.into_iter().collect::<Vec<_>>().join(", ")), "");
    }
    written
}

impl Finding {
    /// Returns the section of a catalog to which it belongs.
    pub fn section(&self) -> &'static str {
        match self.kind {
            FindingKind::Databases(_) => "databases",
            FindingKind::Apis(_) => "apis",
            FindingKind::Documents => "documents",
            FindingKind::Skills => "skills",
        }
    }

    /// Renders its entry in a catalog on one line: `{name: shop, path: data/shop.sqlite}`. Paths are relative to `base`, the folder of the
    /// catalog, if given. The result contains the secrets of a URL.
    pub fn entry(&self, base: Option<&Path>) -> String {
        let mut fields: Vec<(&str, String)> = Vec::new();
        fields.extend(self.name.as_deref().map(|name| ("name", quote(name))));
        match &self.address {
            Address::Path(path) => {
                let path = base.map_or_else(|| path.clone(), |base| relative(path, base));
                let path = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
                fields.extend(self.written_type().map(|kind| ("type", quote(kind))));
                fields.push(("path", quote(&path)));
            }
            Address::Url(url) => {
                fields.extend(self.written_type().map(|kind| ("type", quote(kind))));
                fields.push(("url", quote(url)));
            }
            Address::Variable(name) => fields.push(("url", quote(&format!("${{{name}}}")))),
        }
        let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
        format!("{{{}}}", fields.join(", "))
    }

    /// Returns the `type` of its entry, if the address does not determine it.
    fn written_type(&self) -> Option<&'static str> {
        match (&self.kind, &self.address) {
            (FindingKind::Databases(kind), Address::Path(path)) => {
                // The extensions of a pattern are in braces, and all of one type.
                let detected = SourceKind::from_path(path).or_else(|| from_choice(path));
                (detected != Some(*kind)).then(|| kind.as_str())
            }
            (FindingKind::Apis(ApiForm::GraphqlServer), _) => Some("graphql"),
            _ => None,
        }
    }

    /// Returns the host to contact for it, with its port.
    fn host(&self) -> Option<String> {
        let (Address::Url(url), FindingKind::Apis(_) | FindingKind::Documents) = (&self.address, self.kind) else {
            return None;
        };
        let url = url::Url::parse(url).ok()?;
        let host = url.host_str()?;
        Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }
}

/// Returns the type of the files of `*.{csv,tsv}` and of `{a.csv,b.csv}`.
fn from_choice(path: &Path) -> Option<SourceKind> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let last = name.strip_suffix('}')?.rsplit([',', '{']).next()?.to_owned();
    SourceKind::from_path(Path::new(&format!("x.{last}")))
}

/// Returns the path relative to a folder, if it is inside of it.
fn relative(path: &Path, base: &Path) -> PathBuf {
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (path, base) = (absolute(path), absolute(base));
    match path.strip_prefix(&base) {
        Ok(inside) if inside.as_os_str().is_empty() => PathBuf::from("."),
        Ok(inside) => inside.to_owned(),
        Err(_) => path,
    }
}

/// Renders a text as YAML, quoted unless it is read as the same text without quotes. Characters that hide or reorder others are escaped.
pub(crate) fn quote(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '/'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let is_text = || matches!(serde_saphyr::from_str(text), Ok(Value::String(read)) if read == text);
    if is_plain && is_text() {
        return text.to_owned();
    }
    // Every JSON string is valid YAML, which has escapes of eight digits too.
    let escape = |c: char| match u32::from(c) {
        _ if !is_hidden(c) => c.to_string(),
        code @ ..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    };
    Value::from(text).to_string().chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_texts_that_could_be_other_values() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected);
        check("data/shop.sqlite", "data/shop.sqlite");
        check("data/*.csv", "\"data/*.csv\"");
        check("2024", "\"2024\"");
        check("1e5", "\"1e5\"");
        check("No", "\"No\"");
        check("a: b # c", "\"a: b # c\"");
        check("größe \"x\"", "\"größe \\\"x\\\"\"");
        check(".inf", "\".inf\"");
        let hostile = "a\u{202e}b\u{85}c\u{2028}d\u{e0041}e\n";
        check(hostile, r#""a\u202eb\u0085c\u2028d\U000e0041e\n""#);
        assert_eq!(serde_saphyr::from_str::<String>(&quote(hostile)).ok().as_deref(), Some(hostile));
    }
}
