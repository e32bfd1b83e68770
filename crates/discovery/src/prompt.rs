//! The system prompt: its form for a model, and its contents.
//!
//! | full metadata | model can call tools | model cannot |
//! |---|---|---|
//! | within the budget | metadata, and tools for the rest | metadata |
//! | above | instructions, map, tools | as much metadata as fits, best first |
//!
//! A model without tools is also shown texts of documents and responses of operations, as long as there is room.

mod budget;
mod fill;
mod map;
mod metadata;
mod pinned;
mod whole;

use prospector_core::record::Resource;
use prospector_core::tokens;
use prospector_llm::{message::SystemBlock, models::ModelInfo};
use serde::Serialize;

use crate::{
    Catalog, DiscoveryTools,
    piece::{Piece, key},
};

/// Tokens reserved for the answer, the question and the history, at most half of a small context.
const RESERVED_TOKENS: usize = 8_000;

/// Longer texts are sampled: tokens of several parts with this total length are counted, and scaled.
const MAX_COUNTED_BYTES: usize = 1_000_000;
const PARTS: usize = 20;

/// The fixed texts of a prompt, supplied by the caller.
#[derive(Debug, Clone, Copy)]
pub struct Instructions<'a> {
    /// For a model that can call tools.
    pub with_tools: &'a str,
    /// For a model that can call tools, if the catalog defines no terms.
    pub without_terms: &'a str,
    /// For a model that cannot call tools.
    pub without_tools: &'a str,
    /// The form of the answer.
    pub form: &'a str,
}

/// The form of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptForm {
    /// Instructions, map and tools; the rest is discovered.
    Minimal,
    /// All metadata, and tools for samples, values and facts.
    FullWithTools,
    /// All metadata, or as much as fits, and no tools.
    Full,
}

/// Tokens of each part (o200k).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PromptTokens {
    /// Role, process, rules and the form of the answer.
    pub instructions: usize,
    /// Names and counts.
    pub map: usize,
    /// Pinned tables.
    pub preload: usize,
    /// Metadata.
    pub metadata: usize,
    /// The specifications of the tools.
    pub tools: usize,
    /// All of the above.
    pub total: usize,
    /// A prompt with all metadata and no tools, for comparison.
    pub full_prompt: usize,
}

/// A system prompt.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Its form.
    pub form: PromptForm,
    /// Its blocks, static text first.
    pub system: Vec<SystemBlock>,
    /// Whether the tools are available.
    pub with_tools: bool,
    /// The names that it shows.
    pub revealed: Vec<Resource>,
    /// The entries that it describes: their ids, with their texts.
    pub described: Vec<(String, String)>,
    /// Its size.
    pub tokens: PromptTokens,
    /// Number of entries that did not fit; the prompt reports it too.
    pub left_out: usize,
}

impl Prompt {
    /// Returns a prompt of these blocks for a model with tools, for a caller with its own texts.
    pub fn new(system: Vec<SystemBlock>) -> Self {
        let (revealed, described, tokens) = (Vec::new(), Vec::new(), PromptTokens::default());
        Prompt { form: PromptForm::Minimal, system, with_tools: true, revealed, described, tokens, left_out: 0 }
    }
}

/// Builds prompts for one catalog.
pub struct PromptBuilder<'a> {
    catalog: &'a Catalog,
    tools: &'a DiscoveryTools,
    instructions: Instructions<'a>,
    form: Option<PromptForm>,
}

impl<'a> PromptBuilder<'a> {
    /// Returns a builder that selects the form by the model and by measured size.
    pub fn new(catalog: &'a Catalog, tools: &'a DiscoveryTools, instructions: Instructions<'a>) -> Self {
        PromptBuilder { catalog, tools, instructions, form: None }
    }

    /// Forces a form, for experiments.
    pub fn form(mut self, form: Option<PromptForm>) -> Self {
        self.form = form;
        self
    }

    /// Builds the prompt for a model. The question only determines which entries are omitted if not all fit.
    pub fn build(&self, model: &ModelInfo, question: &str) -> Prompt {
        let pieces = metadata::pieces(self.catalog);
        let metadata_tokens = self.count(&metadata::text(&pieces, 0));
        let form = self.form.unwrap_or(match (metadata_tokens <= budget::budget(model), model.tools) {
            (true, true) => PromptForm::FullWithTools,
            (false, true) => PromptForm::Minimal,
            (_, false) => PromptForm::Full,
        });
        // Notes on columns alone need no tool: search shows them.
        let looks_up_terms = self.tools.resolves_terms() && self.catalog.defines_terms();
        let (instructions, with_tools) = match form {
            PromptForm::Minimal | PromptForm::FullWithTools if looks_up_terms => (self.instructions.with_tools, true),
            PromptForm::Minimal | PromptForm::FullWithTools => (self.instructions.without_terms, true),
            PromptForm::Full => (self.instructions.without_tools, false),
        };
        let fixed = format!("{instructions}\n\n{}", self.instructions.form);
        let mut size = PromptTokens { instructions: tokens::count(&fixed), ..PromptTokens::default() };
        size.full_prompt = self.fixed_without_tools() + metadata_tokens;
        let mut system = vec![SystemBlock { text: fixed, cache: false }];
        if !self.catalog.instructions.is_empty() {
            let text = format!("From the owner of the catalog:\n{}", self.catalog.instructions);
            size.instructions += tokens::count(&text);
            system.push(SystemBlock { text, cache: false });
        }
        let (mut revealed, mut described) = (Vec::new(), Vec::new());
        let mut left_out = 0;
        if form == PromptForm::Minimal {
            let map = map::text(self.catalog, self.tools);
            size.map = tokens::count(&map);
            system.push(SystemBlock { text: map, cache: false });
            let pinned = pinned::tables(self.catalog, &pieces);
            if !pinned.pieces.is_empty() {
                let text = pinned::text(&pinned);
                size.preload = tokens::count(&text);
                system.push(SystemBlock { text, cache: false });
                revealed.extend(pinned::list_revealed(&pinned));
                described.extend(pinned.pieces.iter().map(Piece::describe));
            }
        } else {
            let context = model.context as usize;
            let room = context.saturating_sub(RESERVED_TOKENS.min(context / 2) + size.instructions);
            let filled = match with_tools && metadata_tokens <= room {
                true => fill::Filled { text: metadata::text(&pieces, 0), pieces, left_out: 0, is_everything: true },
                false => fill::fill(self.catalog, &pieces, question, room),
            };
            left_out = filled.left_out;
            size.metadata = tokens::count(&filled.text);
            system.push(SystemBlock { text: filled.text, cache: false });
            described.extend(filled.pieces.iter().map(Piece::describe));
            revealed.extend(filled.pieces.into_iter().flat_map(|piece| piece.reveals));
        }
        if let Some(last) = system.last_mut() {
            last.cache = true;
        }
        if with_tools {
            size.tools = tokens::count(&serde_json::to_string(&self.tools.specs()).unwrap_or_default());
        }
        size.total = size.instructions + size.map + size.preload + size.metadata + size.tools;
        Prompt { form, system, with_tools, revealed, described, tokens: size, left_out }
    }

    /// Returns only the map of a prompt with tools: names and counts of entries.
    pub fn map(&self) -> String {
        map::text(self.catalog, self.tools)
    }

    /// Returns the tokens of a prompt without tools that contains all entries in full: all columns of tables, parameters, bodies and
    /// responses of operations, texts of documents. The baseline for discovery; an estimate for very large catalogs.
    pub fn tokens_of_everything(&self) -> usize {
        self.fixed_without_tools() + self.count(&metadata::text(&whole::pieces(self.catalog), 0))
    }

    fn fixed_without_tools(&self) -> usize {
        tokens::count(&format!("{}\n\n{}", self.instructions.without_tools, self.instructions.form))
    }

    /// Counts the tokens of a text, with a cache; very long texts are sampled and scaled by bytes.
    fn count(&self, text: &str) -> usize {
        self.catalog.prompts.counts.get(key([text]), || {
            if text.len() <= MAX_COUNTED_BYTES {
                return tokens::count(text);
            }
            let (mut counted, mut bytes) = (0, 0);
            for part in 0..PARTS {
                let begin = text.ceil_char_boundary(text.len() / PARTS * part);
                let end = text.floor_char_boundary(begin + MAX_COUNTED_BYTES / PARTS);
                counted += tokens::count(&text[begin..end]);
                bytes += end - begin;
            }
            (counted as f64 * text.len() as f64 / bytes as f64) as usize
        })
    }
}
