//! Views for the windows of other programs, each a page without any file beside it: the modules of the page, with those in
//! `page/apps` in the place of the ones that talk to a server.
//!
//! The page has no build step, so modules are joined by their imports, which have one form. The SDK for views has 300 KB, of which a
//! hundred lines are needed; the test uses it as the host.

use std::{collections::HashMap, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::assets;

const TEMPLATE: &str = include_str!("page/apps/app.html");
const STYLE: &str = include_str!("page/apps/app.css");

/// The modules that views have alone, or instead of those of the same name.
const MODULES: [(&str, &str); 7] = [
    ("answer-view.js", include_str!("page/apps/answer-view.js")),
    ("api.js", include_str!("page/apps/api.js")),
    ("files.js", include_str!("page/apps/files.js")),
    ("host.js", include_str!("page/apps/host.js")),
    ("plan-view.js", include_str!("page/apps/plan-view.js")),
    ("tables-view.js", include_str!("page/apps/tables-view.js")),
    ("view.js", include_str!("page/apps/view.js")),
];

/// The page that begins with a module. It allows the one script and the one style that it holds, by their hashes, images that
/// stand in it, and no connection.
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

/// As a content security policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Modules as one script: each is a function whose value is what it exports, after those that it imports.
#[derive(Default)]
struct Bundle {
    text: String,
    /// The names under which modules stand in the text.
    names: HashMap<&'static str, String>,
}

impl Bundle {
    /// Adds a module and what it imports, and tells under which name it stands.
    ///
    /// # Panics
    /// Where a module is missing or imports itself. The files are part of the program, and a test builds every view.
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

/// The module of that name: one for views, else that of the page.
fn find_module(name: &str) -> (&'static str, &'static str) {
    let own = MODULES.into_iter().find(|(known, _)| *known == name);
    let of_page = || assets::find(name).map(|asset| (asset.name, asset.text));
    own.or_else(of_page).unwrap_or_else(|| panic!("there is no module {name}"))
}

/// The names and the file of an import.
fn import_of(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import {")?;
    let (names, from) = rest.split_once("} from \"")?;
    let file = from.strip_suffix("\";")?;
    Some((names, file.rsplit('/').next().unwrap_or(file)))
}

/// What a declaration declares: `async function send(path)` is `send`.
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
            // The module that talks to a server is not there, its stand-in is.
            assert!(!page.contains("fetch(") && page.contains("ui/initialize"), "{entry}");
            let modules: Vec<&str> = page.lines().filter(|line| line.starts_with("const module")).collect();
            assert!(modules.len() > 8, "{entry}");
            let names: std::collections::HashSet<&str> =
                modules.iter().filter_map(|line| line.split(' ').nth(1)).collect();
            assert_eq!(names.len(), modules.len(), "each has a name of its own");
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
