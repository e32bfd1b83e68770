//! What was found as the text of a catalog.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use prospector_connect::source::SourceKind;

use super::finding::{Address, ApiForm, Finding, FindingKind};

/// The text of a catalog, and which source led to each of its lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// The YAML.
    pub(crate) text: String,
    /// For each line the source that was named, as it may be shown; empty where it comes of none.
    pub(crate) sources: Vec<String>,
}

/// The sections that entries are written in, in the order of a catalog.
pub(super) const fn sections() -> [&'static str; 4] {
    ["databases", "apis", "documents", "skills"]
}

/// One section of a catalog with its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// Its key.
    pub(super) key: &'static str,
    /// What stands in it.
    pub(super) findings: Vec<&'a Finding>,
}

impl Section<'_> {
    /// The findings in their sections, those that have any.
    pub(super) fn of(findings: &[Finding]) -> Vec<Section<'_>> {
        let of_key = |key: &'static str| Section {
            key,
            findings: findings.iter().filter(|finding| finding.section() == key).collect(),
        };
        sections().into_iter().map(of_key).filter(|section| !section.findings.is_empty()).collect()
    }
}

/// The catalog that holds what was found, with paths as they are. The hosts of its URLs may be asked, wherever they are:
/// somebody named them. Clients of a server may run queries.
pub(crate) fn write(findings: &[Finding]) -> Written {
    let mut written = Written::default();
    let mut line = |text: &str, source: &str| {
        written.text.push_str(text);
        written.text.push('\n');
        written.sources.push(source.to_owned());
    };
    for section in Section::of(findings) {
        line(&format!("{}:", section.key), "");
        for finding in section.findings {
            line(&format!("- {}", finding.entry(None)), &finding.source);
        }
    }
    let hosts: BTreeSet<String> = findings.iter().filter_map(Finding::host).map(|host| quote(&host)).collect();
    // Who names sources wants them queried, and nobody else can ask for more than the sources hold.
    line("queries: true", "");
    if !hosts.is_empty() {
        line(&format!("fetch: {{allow: [{}]}}", hosts.into_iter().collect::<Vec<_>>().join(", ")), "");
    }
    written
}

impl Finding {
    /// The section of a catalog that it belongs into.
    pub fn section(&self) -> &'static str {
        match self.kind {
            FindingKind::Databases(_) => "databases",
            FindingKind::Apis(_) => "apis",
            FindingKind::Documents => "documents",
            FindingKind::Skills => "skills",
        }
    }

    /// Its entry in a catalog, on one line: `{name: shop, path: data/shop.sqlite}`. Paths are relative to `base`, the folder
    /// of the catalog, where one is given. It holds the secrets of a URL.
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

    /// The `type` of its entry, where the address does not tell it.
    fn written_type(&self) -> Option<&'static str> {
        match (&self.kind, &self.address) {
            (FindingKind::Databases(kind), Address::Path(path)) => {
                // Of a pattern the extensions are in braces, and those of one kind.
                let told = SourceKind::from_path(path).or_else(|| from_choice(path));
                (told != Some(*kind)).then(|| kind.as_str())
            }
            (FindingKind::Apis(ApiForm::GraphqlServer), _) => Some("graphql"),
            _ => None,
        }
    }

    /// The host that is asked for it, with its port.
    fn host(&self) -> Option<String> {
        let (Address::Url(url), FindingKind::Apis(_) | FindingKind::Documents) = (&self.address, self.kind) else {
            return None;
        };
        let url = url::Url::parse(url).ok()?;
        let host = url.host_str()?;
        Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }
}

/// The kind of the files of `*.{csv,tsv}` and of `{a.csv,b.csv}`.
fn from_choice(path: &Path) -> Option<SourceKind> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let last = name.strip_suffix('}')?.rsplit([',', '{']).next()?.to_owned();
    SourceKind::from_path(Path::new(&format!("x.{last}")))
}

/// The path from a folder, where it leads into it.
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

/// A text as YAML: as it is where it can only be a text, else in quotes.
fn quote(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '/'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && text.parse::<f64>().is_err()
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n", ".", ".inf", ".nan"]
            .contains(&text.to_ascii_lowercase().as_str());
    // Any text of JSON is one of YAML.
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_nothing_but_a_text_goes_without_quotes() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected);
        check("data/shop.sqlite", "data/shop.sqlite");
        check("data/*.csv", "\"data/*.csv\"");
        check("2024", "\"2024\"");
        check("1e5", "\"1e5\"");
        check("No", "\"No\"");
        check("a: b # c", "\"a: b # c\"");
        check("größe \"x\"", "\"größe \\\"x\\\"\"");
        check(".inf", "\".inf\"");
    }
}
