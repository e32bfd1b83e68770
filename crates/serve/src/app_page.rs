//! Self-contained views for MCP Apps: the page's modules, with those in `page/apps` in place of the ones that talk to a server.
//!
//! The page has no build step, so modules are bundled by following their imports, which have a single form. The SDK for views has 300 KB,
//! of which about a hundred lines are needed; the test uses the SDK as the host.

use std::{collections::HashMap, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::assets;

const TEMPLATE: &str = include_str!("page/apps/app.html");
const STYLE: &str = include_str!("page/apps/app.css");

/// Modules that only views have, or that replace the page's module of the same name.
const MODULES: [(&str, &str); 7] = [
    ("answer-view.js", include_str!("page/apps/answer-view.js")),
    ("api.js", include_str!("page/apps/api.js")),
    ("files.js", include_str!("page/apps/files.js")),
    ("host.js", include_str!("page/apps/host.js")),
    ("plan-view.js", include_str!("page/apps/plan-view.js")),
    ("tables-view.js", include_str!("page/apps/tables-view.js")),
    ("view.js", include_str!("page/apps/view.js")),
];

/// Builds the page whose entry point is `entry`. Its content security policy allows its one script and one style sheet by hash, embedded
/// images, and no connections.
pub(crate) fn build(title: &str, entry: &str) -> String {
    let mut bundle = Bundle::default();
    bundle.add(entry);
    let script = bundle.text;
    let style = ["style.css", "views.css"].iter().filter_map(|name| assets::find(name)).map(|asset| asset.text);
    let style = style.chain([STYLE]).collect::<String>();
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let parts = [("$TITLE", title), ("$POLICY", &policy), ("$STYLE", &style), ("$SCRIPT", &script)];
    parts.iter().fold(TEMPLATE.to_owned(), |page, (mark, part)| page.replace(mark, part))
}

/// The hash in the form that a content security policy takes.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Joins modules into one script: each becomes a function that returns its exports, placed after its imports.
#[derive(Default)]
struct Bundle {
    text: String,
    /// The identifier of each bundled module.
    names: HashMap<&'static str, String>,
}

impl Bundle {
    /// Adds a module with its imports, and returns its identifier in the bundle.
    ///
    /// # Panics
    /// If a module is missing or imports itself. The files are compiled in, and a test builds every view.
    fn add(&mut self, name: &str) -> String {
        let (name, source) = find_module(name);
        if let Some(known) = self.names.get(name) {
            assert!(!known.is_empty(), "{name} imports itself");
            return known.clone();
        }
        self.names.insert(name, String::new());
        let module = format!("module{}", self.names.len());
        let mut body = String::new();
        let mut exports: Vec<&str> = Vec::new();
        for line in source.lines() {
            if let Some((names, from)) = import_of(line) {
                let module = self.add(from);
                let _ = writeln!(body, "const {{{}}} = {module};", names.replace(" as ", ": "));
            } else if let Some(declared) = line.strip_prefix("export ") {
                exports.push(declared_name(declared));
                let _ = writeln!(body, "{declared}");
            } else {
                let _ = writeln!(body, "{line}");
            }
        }
        let _ = writeln!(
            self.text,
            "const {module} = (() => {{ \"use strict\";\n{body}return {{ {} }};\n}})();",
            exports.join(", ")
        );
        self.names.insert(name, module.clone());
        module
    }
}

/// Returns the module: the one for views if it exists, else the page's.
fn find_module(name: &str) -> (&'static str, &'static str) {
    let own = MODULES.into_iter().find(|(known, _)| *known == name);
    let of_page = || assets::find(name).map(|asset| (asset.name, asset.text));
    own.or_else(of_page).unwrap_or_else(|| panic!("missing module {name}"))
}

/// Returns the names and the file of an import.
fn import_of(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import {")?;
    let (names, from) = rest.split_once("} from \"")?;
    let file = from.strip_suffix("\";")?;
    Some((names, file.rsplit('/').next().unwrap_or(file)))
}

/// Returns the declared name: `send` for `async function send(path)`.
fn declared_name(declaration: &str) -> &str {
    let mut words = declaration.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.find(|word| !["async", "function", "const", "class", ""].contains(word)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_one_script_without_modules() {
        for entry in ["answer-view.js", "plan-view.js", "tables-view.js"] {
            let page = build("A view", entry);
            let stray = page.lines().find(|line| line.starts_with("import ") || line.starts_with("export "));
            assert_eq!(stray, None, "{entry}");
            assert_eq!(page.matches("</script>").count(), 1, "{entry}");
            assert!(!page.contains('$') || !["$SCRIPT", "$STYLE", "$POLICY"].iter().any(|mark| page.contains(mark)));
            // The module that talks to a server is replaced by its stand-in.
            assert!(!page.contains("fetch(") && page.contains("ui/initialize"), "{entry}");
            let modules: Vec<&str> = page.lines().filter(|line| line.starts_with("const module")).collect();
            assert!(modules.len() > 8, "{entry}");
            let names: std::collections::HashSet<&str> =
                modules.iter().filter_map(|line| line.split(' ').nth(1)).collect();
            assert_eq!(names.len(), modules.len(), "names are unique");
            assert!(!page.contains("src=\"") && !page.contains("href=\"/"), "{entry}");
        }
    }

    #[test]
    fn declarations_are_named() {
        assert_eq!(declared_name("async function send(path, body) {"), "send");
        assert_eq!(declared_name("const can = {};"), "can");
        assert_eq!(declared_name("class Refused extends Error {"), "Refused");
    }
}
