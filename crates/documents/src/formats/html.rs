//! Converts HTML to Markdown: parsed by html5ever, rendered by the `htmd` crate.
//!
//! The tree is corrected first where the renderer falls short: data tables without a head row, column widths, nesting
//! deep enough to overflow the stack, and long runs of siblings, which take quadratic time.

use std::{collections::BTreeMap, rc::Rc, time::Instant};

use htmd::{
    Element, HtmlToMarkdown,
    element_handler::{HandlerResult, Handlers},
    options::{BulletListMarker, HrStyle, Options},
};
use html5ever::{ParseOpts, parse_document, tendril::TendrilSink};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use prospector_text::cut::one_line;

use super::{Converted, Refused, tables};
use crate::formats::limits;

/// Elements that are not part of the text.
const SKIPPED: [&str; 17] = [
    "script", "style", "nav", "noscript", "template", "svg", "head", "iframe", "object", "canvas", "form", "button",
    "select", "audio", "video", "img", "math",
];
/// Chunk size of the parser input; time and depth are checked after each chunk.
const PIECE: usize = 16 * 1024;
/// Maximum number of sibling text elements: the renderer joins equal ones in quadratic time.
const MAX_SIBLINGS: usize = 20_000;

pub(super) fn read(text: &str) -> Result<Converted, Refused> {
    let tree = tree(text)?;
    let mut converted = check(&tree.document)?;
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        hr_style: HrStyle::Dashes,
        ..Options::default()
    };
    let writer = HtmlToMarkdown::builder()
        .options(options)
        .skip_tags(SKIPPED.to_vec())
        .add_handler(vec!["table"], table)
        .add_handler(vec!["a"], |handlers: &dyn Handlers, element: Element| Some(handlers.walk_children(element.node)))
        .build();
    converted.text = writer.tree_to_markdown(&tree.document);
    Ok(converted)
}

fn tree(text: &str) -> Result<RcDom, Refused> {
    let started = Instant::now();
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = PIECE.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        parser.process(rest[..end].into());
        rest = &rest[end..];
        if started.elapsed() > limits::MAX_TIME {
            return Err(Refused::new("reading the page takes too long", "simplify it"));
        }
        // The last child is the open one.
        let mut depth = 0;
        let mut open = Some(parser.tokenizer.sink.sink.document.clone());
        while let Some(node) = open {
            open = node.children.borrow().last().cloned();
            depth += 1;
        }
        deep(depth)?;
    }
    Ok(parser.finish())
}

fn deep(depth: usize) -> Result<(), Refused> {
    if depth > limits::MAX_HTML_DEPTH {
        let reason = format!("the elements of the page are nested over {} deep", limits::MAX_HTML_DEPTH);
        return Err(Refused::new(reason, "simplify it"));
    }
    Ok(())
}

/// Rejects documents beyond the limits, and reads the metadata.
fn check(document: &Rc<Node>) -> Result<Converted, Refused> {
    let mut converted = Converted::default();
    let mut open: Vec<(Rc<Node>, usize)> = vec![(document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        deep(depth)?;
        let children = node.children.borrow();
        let single = |child: &&Rc<Node>| {
            let inner = child.children.borrow();
            inner.len() == 1 && matches!(inner[0].data, NodeData::Text { .. })
        };
        if children.len() > MAX_SIBLINGS && children.iter().filter(single).count() > MAX_SIBLINGS {
            let reason = format!("an element of the page has over {MAX_SIBLINGS} pieces of text side by side");
            return Err(Refused::new(reason, "split it into several files"));
        }
        describe(&node, &mut converted);
        open.extend(children.iter().map(|child| (child.clone(), depth + 1)));
    }
    Ok(converted)
}

/// Reads `<title>` and `<meta name=... content=...>`.
fn describe(node: &Rc<Node>, converted: &mut Converted) {
    let NodeData::Element { name, attrs, .. } = &node.data else { return };
    match &*name.local {
        "title" if converted.title.is_none() => converted.title = Some(text_of(node)),
        "meta" => {
            let attributes: BTreeMap<String, String> =
                attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
            let name = attributes.get("name").or_else(|| attributes.get("property")).map(|name| name.to_lowercase());
            let (Some(name), Some(content)) = (name, attributes.get("content").cloned()) else { return };
            match name.as_str() {
                "description" | "og:description" => converted.description = Some(content),
                "keywords" => converted.tags = content.split(',').map(|tag| tag.trim().to_owned()).collect(),
                "author" | "created" => drop(converted.metadata.insert(name, content)),
                "article:published_time" => drop(converted.metadata.insert("created".into(), content)),
                // Written by LibreOffice and by content management systems.
                "changed" | "article:modified_time" | "last-modified" => converted.last_updated = Some(content),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Returns the text of an element and its descendants; the depth is limited.
fn text_of(node: &Rc<Node>) -> String {
    let mut out = String::new();
    collect(node, &mut out);
    one_line(&out)
}

fn collect(node: &Rc<Node>, out: &mut String) {
    match &node.data {
        NodeData::Text { contents } => out.push_str(&contents.borrow()),
        NodeData::Element { name, .. } if SKIPPED.contains(&&*name.local) => {}
        _ => {
            let children = node.children.borrow();
            for child in children.iter() {
                collect(child, out);
                if is_block(child) {
                    out.push(' ');
                }
            }
        }
    }
}

fn is_block(node: &Rc<Node>) -> bool {
    let blocks = ["p", "div", "br", "li", "td", "th", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "dd", "pre"];
    tag(node).is_some_and(|tag| blocks.contains(&tag.as_str()))
}

fn tag(node: &Rc<Node>) -> Option<String> {
    match &node.data {
        NodeData::Element { name, .. } => Some(name.local.to_string()),
        _ => None,
    }
}

/// Renders a table of text cells as a Markdown table with the first row as head. A table that contains tables, headings
/// or lists is treated as layout, i.e. as text.
fn table(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut caption = None;
    if !rows_of(element.node, &mut rows, &mut caption) || rows.iter().all(|row| row.len() < 2) {
        return Some(handlers.walk_children(element.node));
    }
    let mut out = String::from("\n\n");
    out.extend(caption.map(|caption| format!("{}\n\n", tables::literal(&caption))));
    tables::write(&rows, &mut out);
    Some(out.into())
}

/// Collects the rows; returns whether all cells contain only text.
fn rows_of(node: &Rc<Node>, rows: &mut Vec<Vec<String>>, caption: &mut Option<String>) -> bool {
    for child in node.children.borrow().iter() {
        let data = match tag(child).as_deref() {
            Some("caption") => {
                *caption = Some(text_of(child)).filter(|caption| !caption.is_empty());
                true
            }
            Some("thead" | "tbody" | "tfoot") => rows_of(child, rows, caption),
            Some("tr") => {
                let children = child.children.borrow();
                let cells: Vec<&Rc<Node>> =
                    children.iter().filter(|cell| matches!(tag(cell).as_deref(), Some("td" | "th"))).collect();
                let plain = cells.iter().all(|cell| !holds_blocks(cell));
                rows.push(cells.into_iter().flat_map(cell_of).collect());
                plain
            }
            _ => true,
        };
        if !data {
            return false;
        }
    }
    true
}

/// Returns the text of a cell, followed by the empty cells of its `colspan`.
fn cell_of(cell: &Rc<Node>) -> Vec<String> {
    let NodeData::Element { attrs, .. } = &cell.data else { return Vec::new() };
    let attributes = attrs.borrow();
    let span = attributes.iter().find(|attribute| &*attribute.name.local == "colspan");
    let span = span.and_then(|attribute| attribute.value.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 50);
    let mut cells = vec![text_of(cell)];
    cells.resize(span, String::new());
    cells
}

fn holds_blocks(node: &Rc<Node>) -> bool {
    let own = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "pre", "blockquote"];
    let mut open = vec![node.clone()];
    while let Some(node) = open.pop() {
        for child in node.children.borrow().iter() {
            if tag(child).is_some_and(|tag| own.contains(&tag.as_str())) {
                return true;
            }
            open.push(child.clone());
        }
    }
    false
}
