//! MCP Apps (SEP-1865, 2026-01-26): an answer, a plan and the tables of a database as pages in the client's window, and the tools that such
//! pages call. Clients without support for MCP Apps see none of this.

use std::sync::OnceLock;

use prospector_core::{
    Owner,
    mark::as_data,
    tool::{Effect, ToolSpec},
};
use rmcp::{
    RoleServer,
    model::{CallToolResult, ExtensionCapabilities, JsonObject, MetaObject, Resource, ResourceContents, Tool},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::forms::{failure, object, result, tool};
use crate::{
    app_page, diagram::Diagram, drawing::Drawn, error::Refusal, listing::KINDS, server::Server, view::CatalogView,
};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of the pages.
const MEDIA: &str = "text/html;profile=mcp-app";

const SHOW_TABLES: &str = "show_tables";
const DRAW_CHART: &str = "draw_chart";
const GET_THING: &str = "get_thing";

/// Limit on the tables named to the model; the page shows all.
const MAX_NAMED: usize = 60;

/// Whether the client supports MCP Apps: it declares so during initialization, or with each request.
pub(super) fn are_shown(context: &RequestContext<RoleServer>) -> bool {
    let of_request = context.meta.client_capabilities();
    let capabilities = of_request.or_else(|| context.peer.peer_info().map(|client| client.capabilities.clone()));
    capabilities.and_then(|capabilities| capabilities.extensions).is_some_and(|extensions| takes_pages(&extensions))
}

fn takes_pages(extensions: &ExtensionCapabilities) -> bool {
    let types = extensions.get(EXTENSION).and_then(|settings| settings.get("mimeTypes")).and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|media| media == MEDIA))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppView {
    /// An answer with its chart and rows, or queries with theirs.
    Answer,
    /// The steps of a plan as a graph.
    Plan,
    /// The tables of a database, to navigate.
    Tables,
}

impl AppView {
    pub(super) const ALL: [AppView; 3] = [AppView::Answer, AppView::Plan, AppView::Tables];

    fn uri(self) -> &'static str {
        match self {
            AppView::Answer => "ui://prospector/answer",
            AppView::Plan => "ui://prospector/plan",
            AppView::Tables => "ui://prospector/tables",
        }
    }

    fn title(self) -> &'static str {
        match self {
            AppView::Answer => "Answer",
            AppView::Plan => "Plan",
            AppView::Tables => "Tables",
        }
    }

    fn about(self) -> &'static str {
        match self {
            AppView::Answer => "An answer with its chart, its rows and its source queries.",
            AppView::Plan => "The steps of a plan and the data flow between them.",
            AppView::Tables => "The tables of a database with their keys, to navigate.",
        }
    }

    /// Returns the self-contained page, which is the same for every client.
    fn page(self) -> &'static str {
        static PAGES: [OnceLock<String>; 3] = [const { OnceLock::new() }; 3];
        let (page, entry) = match self {
            AppView::Answer => (&PAGES[0], "answer-view.js"),
            AppView::Plan => (&PAGES[1], "plan-view.js"),
            AppView::Tables => (&PAGES[2], "tables-view.js"),
        };
        page.get_or_init(|| app_page::build(self.title(), entry))
    }

    /// Marks a tool so that the client shows its answers on this page.
    pub(super) fn of_tool(self, tool: Tool) -> Tool {
        tool.with_meta(MetaObject(object(json!({"ui": {"resourceUri": self.uri()}}))))
    }
}

/// Returns the pages as resources.
pub(super) fn resources() -> impl Iterator<Item = Resource> {
    AppView::ALL.into_iter().map(|view| {
        Resource::new(view.uri(), view.title().to_lowercase())
            .with_title(view.title())
            .with_description(view.about())
            .with_mime_type(MEDIA)
    })
}

/// Returns the page of an address. It requests no connections, and no permission except to copy.
pub(super) fn read(uri: &str) -> Option<ResourceContents> {
    let view = AppView::ALL.into_iter().find(|view| view.uri() == uri)?;
    let nowhere: [&str; 0] = [];
    let meta = json!({"ui": {
        "csp": {"connectDomains": nowhere, "resourceDomains": nowhere, "frameDomains": nowhere, "baseUriDomains": nowhere},
        "permissions": {"clipboardWrite": {}},
        "prefersBorder": true,
    }});
    Some(ResourceContents::text(view.page(), uri).with_mime_type(MEDIA).with_meta(MetaObject(object(meta))))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowTablesArgs {
    /// Name of the database.
    database: String,
    /// The table to start from.
    table: Option<String>,
}

/// Tables with the keys between them, and the table to start from.
#[derive(Serialize)]
struct ShownTables {
    #[serde(flatten)]
    diagram: Diagram,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetThingArgs {
    kind: String,
    id: String,
}

#[derive(Serialize)]
struct ThingDetails {
    /// The answer of the tool of its kind.
    answer: Value,
}

/// Returns the tools that only clients with support for pages see: one for the model, which shows tables to the user, and those that pages
/// call.
pub(super) fn tools(view: &CatalogView) -> Vec<Tool> {
    if view.catalog.is_empty() {
        return Vec::new();
    }
    let of_page = |spec: ToolSpec| {
        tool(spec.name, spec.description, object(spec.input_schema), Effect::Reads)
            .with_meta(MetaObject(object(json!({"ui": {"visibility": ["app"]}}))))
    };
    let mut tools = vec![of_page(spec_of_chart()), of_page(spec_of_thing())];
    if view.catalog.schema.databases().next().is_some() {
        let ToolSpec { name, description, input_schema } = spec_of_tables();
        let shown = tool(name, description, object(input_schema), Effect::Reads);
        tools.push(AppView::Tables.of_tool(shown));
    }
    tools
}

fn spec_of_tables() -> ToolSpec {
    let about = "Shows the user the tables of a database and their keys as a diagram to navigate.";
    ToolSpec::new::<ShowTablesArgs>(SHOW_TABLES, about)
}

fn spec_of_chart() -> ToolSpec {
    ToolSpec::new::<Drawn>(DRAW_CHART, "Draws a chart of rows.")
}

fn spec_of_thing() -> ToolSpec {
    ToolSpec::new::<GetThingArgs>(GET_THING, "Returns a catalog entry in full.")
}

/// Calls one of these tools; `None` if the name is another one.
pub(super) async fn call(server: &Server, owner: &Owner, name: &str, arguments: &Value) -> Option<CallToolResult> {
    let view = server.catalog.view(owner);
    let called = match name {
        SHOW_TABLES => show_tables(&view, arguments.clone()),
        DRAW_CHART => draw_chart(server, owner, arguments.clone()).await,
        GET_THING => get_thing(&view, arguments.clone()).await,
        _ => return None,
    };
    Some(match called {
        Ok((text, fields)) => result(as_data(&text), fields, false),
        Err(refusal) => failure(&refusal),
    })
}

fn show_tables(view: &CatalogView, arguments: Value) -> Result<(String, JsonObject), Refusal> {
    let ShowTablesArgs { database, table } = spec_of_tables().arguments(arguments)?;
    let diagram = Diagram::find(&view.catalog, &database)?;
    if let Some(table) = &table {
        diagram.check_table(table)?;
    }
    let text = diagram.summarize(MAX_NAMED);
    Ok((text, object(json!(ShownTables { diagram, table }))))
}

async fn draw_chart(server: &Server, owner: &Owner, arguments: Value) -> Result<(String, JsonObject), Refusal> {
    let drawing = server.draw(owner, spec_of_chart().arguments::<Drawn>(arguments)?).await?;
    Ok((drawing.describe().to_owned(), object(json!(drawing))))
}

async fn get_thing(view: &CatalogView, arguments: Value) -> Result<(String, JsonObject), Refusal> {
    let GetThingArgs { kind, id } = spec_of_thing().arguments(arguments)?;
    let known = KINDS.into_iter().find(|known| known.as_str() == kind);
    let kind = known.ok_or_else(|| Refusal::invalid(format!("there is no kind `{kind}`")))?;
    let answer = view.show(kind, &id).await?;
    Ok((answer.text(), object(json!(ThingDetails { answer: answer.into_json() }))))
}
