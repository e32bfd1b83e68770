//! The page's static files, compiled into the program. They load nothing from elsewhere and contain no data.

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

pub(crate) const INDEX: &str = include_str!("page/index.html");

/// A static file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) media: &'static str,
    pub(crate) text: &'static str,
}

/// Includes a file of `page` by name.
macro_rules! asset {
    ($media:expr, $name:literal) => {
        Asset { name: $name, media: $media, text: include_str!(concat!("page/", $name)) }
    };
}

/// Every static file except the page itself.
pub(crate) const ASSETS: [Asset; 28] = [
    asset!(CSS, "style.css"),
    asset!(CSS, "views.css"),
    asset!(JAVASCRIPT, "answer.js"),
    asset!(JAVASCRIPT, "api.js"),
    asset!(JAVASCRIPT, "catalog.js"),
    asset!(JAVASCRIPT, "chart.js"),
    asset!(JAVASCRIPT, "clarify.js"),
    asset!(JAVASCRIPT, "connect.js"),
    asset!(JAVASCRIPT, "diagram.js"),
    asset!(JAVASCRIPT, "dom.js"),
    asset!(JAVASCRIPT, "evidence.js"),
    asset!(JAVASCRIPT, "execution.js"),
    asset!(JAVASCRIPT, "feedback.js"),
    asset!(JAVASCRIPT, "files.js"),
    asset!(JAVASCRIPT, "graph.js"),
    asset!(JAVASCRIPT, "history.js"),
    asset!(JAVASCRIPT, "main.js"),
    asset!(JAVASCRIPT, "markdown.js"),
    asset!(JAVASCRIPT, "panel.js"),
    asset!(JAVASCRIPT, "plan.js"),
    asset!(JAVASCRIPT, "settings.js"),
    asset!(JAVASCRIPT, "sql.js"),
    asset!(JAVASCRIPT, "status.js"),
    asset!(JAVASCRIPT, "table.js"),
    asset!(JAVASCRIPT, "thing.js"),
    asset!(JAVASCRIPT, "turn.js"),
    asset!(JAVASCRIPT, "workflow.js"),
    asset!("image/svg+xml", "icon.svg"),
];

pub(crate) fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}
