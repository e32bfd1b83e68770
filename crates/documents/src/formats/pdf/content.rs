//! Interprets the drawing operators of a page as positioned text (ISO 32000-1, chapters 8 and 9).

use std::collections::{BTreeMap, HashMap};

use lopdf::{Dictionary, Document, Object, ObjectId, content::Content};

use super::{
    dictionary,
    font::{Font, for_text, number},
};
use crate::formats::{Refused, limits};

/// Maximum nesting depth of forms.
const MAX_FORMS: usize = 12;
/// Maximum number of saved graphics states.
const MAX_SAVED: usize = 512;

/// Text drawn by one operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    /// Horizontal extent, in points from the left.
    pub(super) left: f64,
    pub(super) right: f64,
    /// Baseline, in points from the bottom.
    pub(super) base: f64,
    /// Font size, in points.
    pub(super) size: f64,
    pub(super) text: String,
}

/// The reason for aborting a page.
pub(super) enum Stop {
    /// The file exceeds a limit.
    Limit(Refused),
    /// The page is malformed.
    Page(String),
}

/// Remaining work for a file.
pub(super) struct Budget {
    bytes: usize,
    operations: usize,
    text: usize,
    /// Number of text pieces with unknown characters.
    pub(super) undecoded: usize,
}

impl Default for Budget {
    fn default() -> Self {
        let (bytes, operations) = (limits::MAX_UNPACKED_BYTES, limits::MAX_PDF_OPERATIONS);
        Budget { bytes, operations, text: limits::MAX_RESULT_BYTES, undecoded: 0 }
    }
}

impl Budget {
    fn unpack(&mut self, stream: lopdf::Result<Vec<u8>>) -> Result<Vec<u8>, Stop> {
        match stream {
            Ok(bytes) if bytes.len() <= self.bytes => {
                self.bytes -= bytes.len();
                Ok(bytes)
            }
            Ok(_) | Err(lopdf::Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => {
                Err(Stop::Limit(Refused::too_large("the pages unpack to more", limits::MAX_UNPACKED_BYTES)))
            }
            Err(error) => Err(Stop::Page(error.to_string())),
        }
    }
}

/// Returns the text pieces of a page, in drawing order.
pub(super) fn page(document: &Document, page: ObjectId, budget: &mut Budget) -> Result<Vec<Piece>, Stop> {
    let bytes = budget.unpack(document.get_page_content_with_limit(page, budget.bytes))?;
    let resources = inherit_resources(document, page);
    let mut pieces = Vec::new();
    let mut walk = Walk { document, budget, pieces: &mut pieces, drawing: Vec::new() };
    walk.content(&bytes, &resources, Matrix::ONE)?;
    Ok(pieces)
}

/// Returns the resources of a page, inherited from its ancestors; the tree may be malformed.
fn inherit_resources(document: &Document, page: ObjectId) -> Dictionary {
    let mut id = page;
    for _ in 0..64 {
        let Ok(node) = document.get_dictionary(id) else { break };
        if let Some(resources) = node.get(b"Resources").ok().and_then(|found| dictionary(document, found)) {
            return resources.clone();
        }
        let Ok(parent) = node.get(b"Parent").and_then(Object::as_reference) else { break };
        id = parent;
    }
    Dictionary::new()
}

/// `x' = a x + c y + e`, `y' = b x + d y + f`
#[derive(Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const ONE: Matrix = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn of(operands: &[Object]) -> Option<Matrix> {
        let numbers: Vec<f64> = operands.iter().filter_map(number).collect();
        Some(Matrix(numbers.try_into().ok()?))
    }

    fn shift(x: f64, y: f64) -> Matrix {
        Matrix([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Applies this matrix first, then `next`.
    fn then(self, next: Matrix) -> Matrix {
        let ([a, b, c, d, e, f], [g, h, i, j, k, l]) = (self.0, next.0);
        Matrix([a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l])
    }
}

#[derive(Clone)]
struct State {
    place: Matrix,
    font: Option<Vec<u8>>,
    size: f64,
    letter: f64,
    word: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// Returns the fonts in the resources of a page.
fn font_dictionaries(document: &Document, resources: &Dictionary) -> BTreeMap<Vec<u8>, Dictionary> {
    let fonts = resources.get(b"Font").ok().and_then(|fonts| dictionary(document, fonts));
    fonts
        .into_iter()
        .flat_map(Dictionary::iter)
        .filter_map(|(name, font)| Some((name.clone(), for_text(document, dictionary(document, font)?))))
        .collect()
}

fn load_font<'a>(document: &'a Document, font: &'a Dictionary, bytes: usize) -> Result<Font<'a>, Stop> {
    Font::new(document, font, bytes)
        .map_err(|_| Stop::Limit(Refused::too_large("a font unpacks to more", limits::MAX_OBJECT_STREAM_BYTES)))
}

struct Walk<'a, 'b> {
    document: &'a Document,
    budget: &'b mut Budget,
    pieces: &'b mut Vec<Piece>,
    /// The forms being drawn.
    drawing: Vec<ObjectId>,
}

impl Walk<'_, '_> {
    fn content(&mut self, bytes: &[u8], resources: &Dictionary, place: Matrix) -> Result<(), Stop> {
        let document = self.document;
        let dictionaries = font_dictionaries(document, resources);
        // Fonts are loaded on first use.
        let mut fonts: HashMap<Vec<u8>, Font<'_>> = HashMap::new();
        let mut state =
            State { place, font: None, size: 1.0, letter: 0.0, word: 0.0, stretch: 1.0, leading: 0.0, rise: 0.0 };
        let mut saved: Vec<State> = Vec::new();
        let (mut text, mut line) = (Matrix::ONE, Matrix::ONE);
        for operation in Content::decode_iter(bytes) {
            self.budget.operations = self.budget.operations.checked_sub(1).ok_or_else(|| {
                let reason = format!("the pages take over {} drawing instructions", limits::MAX_PDF_OPERATIONS);
                Stop::Limit(Refused::new(reason, "split it into several files"))
            })?;
            // A malformed operator ends the page; text up to it is kept.
            let Ok(operation) = operation else { break };
            let operands = &operation.operands;
            let value = |n: usize| operands.get(n).and_then(number);
            match operation.operator.as_str() {
                "q" if saved.len() < MAX_SAVED => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => state.place = Matrix::of(operands).map_or(state.place, |m| m.then(state.place)),
                "BT" => (text, line) = (Matrix::ONE, Matrix::ONE),
                "Tf" => {
                    let name = operands.first().and_then(|name| name.as_name().ok()).map(<[u8]>::to_vec);
                    state.size = value(1).unwrap_or(state.size);
                    if let Some(name) = &name
                        && !fonts.contains_key(name)
                        && let Some(found) = dictionaries.get(name)
                    {
                        fonts.insert(name.clone(), load_font(document, found, self.budget.bytes)?);
                    }
                    state.font = name;
                }
                "Tc" => state.letter = value(0).unwrap_or(0.0),
                "Tw" => state.word = value(0).unwrap_or(0.0),
                "Tz" => state.stretch = value(0).unwrap_or(100.0) / 100.0,
                "TL" => state.leading = value(0).unwrap_or(0.0),
                "Ts" => state.rise = value(0).unwrap_or(0.0),
                "Tm" => {
                    line = Matrix::of(operands).unwrap_or(line);
                    text = line;
                }
                "Td" | "TD" => {
                    let (x, y) = (value(0).unwrap_or(0.0), value(1).unwrap_or(0.0));
                    if operation.operator == "TD" {
                        state.leading = -y;
                    }
                    line = Matrix::shift(x, y).then(line);
                    text = line;
                }
                "T*" | "'" | "\"" => {
                    line = Matrix::shift(0.0, -state.leading).then(line);
                    text = line;
                    if operation.operator == "\"" {
                        state.word = value(0).unwrap_or(state.word);
                        state.letter = value(1).unwrap_or(state.letter);
                    }
                    if let Some(string) = operands.last().filter(|_| operation.operator != "T*") {
                        self.show(std::slice::from_ref(string), &state, &mut text, &mut fonts)?;
                    }
                }
                "Tj" => self.show(operands, &state, &mut text, &mut fonts)?,
                "TJ" => {
                    if let Some(Ok(list)) = operands.first().map(Object::as_array) {
                        self.show(list, &state, &mut text, &mut fonts)?;
                    }
                }
                "Do" => {
                    if let Some(Ok(name)) = operands.first().map(Object::as_name) {
                        self.form(name, resources, state.place)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Draws a form; pictures are skipped.
    fn form(&mut self, name: &[u8], resources: &Dictionary, place: Matrix) -> Result<(), Stop> {
        let found = resources.get(b"XObject").ok().and_then(|all| dictionary(self.document, all)?.get(name).ok());
        let Some(Ok((id, object))) = found.map(|found| self.document.dereference(found)) else { return Ok(()) };
        let Ok(stream) = object.as_stream() else { return Ok(()) };
        let is_form = stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form");
        // Prevents infinite recursion.
        let inside = id.is_some_and(|id| self.drawing.contains(&id));
        if !is_form || inside || self.drawing.len() >= MAX_FORMS {
            return Ok(());
        }
        let bytes = self.budget.unpack(stream.get_plain_content_with_limit(self.budget.bytes))?;
        let own = stream.dict.get(b"Resources").ok().and_then(|own| dictionary(self.document, own));
        let matrix = stream.dict.get(b"Matrix").ok().and_then(|m| Matrix::of(m.as_array().ok()?));
        self.drawing.push(id.unwrap_or_default());
        let done = self.content(&bytes, own.unwrap_or(resources), matrix.unwrap_or(Matrix::ONE).then(place));
        self.drawing.pop();
        done
    }

    /// Records the text of strings and advances by its width; a number between strings moves back, in thousandths.
    fn show(
        &mut self,
        strings: &[Object],
        state: &State,
        text: &mut Matrix,
        fonts: &mut HashMap<Vec<u8>, Font<'_>>,
    ) -> Result<(), Stop> {
        let Some(font) = state.font.as_ref().and_then(|name| fonts.get_mut(name)) else { return Ok(()) };
        let scale = Matrix([state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise]);
        let start = scale.then(*text).then(state.place).0;
        let size = start[2].hypot(start[3]);
        let mut words = String::new();
        let mut undecoded = false;
        for part in strings {
            if let Object::String(bytes, _) = part {
                for code in bytes.chunks(font.bytes) {
                    let number = code.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
                    let mut advance = font.width(number) * state.size + state.letter;
                    if number == 32 && font.bytes == 1 {
                        advance += state.word;
                    }
                    *text = Matrix::shift(advance * state.stretch, 0.0).then(*text);
                    match font.text(number, code) {
                        Some(found) => words.push_str(found),
                        None => undecoded = true,
                    }
                }
            } else if let Some(back) = number(part) {
                // A wide gap represents a space.
                if back < -200.0 && !words.ends_with(' ') && !words.is_empty() {
                    words.push(' ');
                }
                *text = Matrix::shift(-back / 1000.0 * state.size * state.stretch, 0.0).then(*text);
            }
        }
        self.budget.undecoded += usize::from(undecoded && words.is_empty());
        self.budget.text = self.budget.text.checked_sub(words.len()).ok_or_else(|| {
            Stop::Limit(Refused::too_large("the pages contain too much text", limits::MAX_RESULT_BYTES))
        })?;
        let end = scale.then(*text).then(state.place).0;
        let places = [start[4], start[5], end[4], size];
        // Invisible text counts as well, e.g. the OCR layer of scanned pages.
        if !words.is_empty() && places.iter().all(|place| place.is_finite() && place.abs() < 1e6) {
            let (left, right) = (start[4].min(end[4]), start[4].max(end[4]));
            self.pieces.push(Piece { left, right, base: start[5], size, text: words });
        }
        Ok(())
    }
}
