//! The shipped transformer: all-MiniLM-L6-v2 with int8 weights.
//!
//! BERT (<https://arxiv.org/abs/1810.04805>) with 6 layers, 12 heads and 384 dimensions and mean pooling. Activations
//! are 14-bit integers, scaled per token, so that quantization loss is that of the weights: the cosine to the exact
//! model is above .999. No operation is fused or platform-specific, so that vectors are reproducible on every machine.
//! A question takes a few milliseconds; loading takes no time.
//!
//! It is too slow for an [`Embedder`](crate::embed::Embedder) of an index; [`crate::meaning`] stores its vectors of the
//! records.
//!
//! Alternatives considered: rten is as fast with 12 more crates, tract and candle add minutes of build time, and
//! onnxruntime is a native library.

mod functions;
mod matrix;
mod weights;

use std::sync::LazyLock;

use crate::{
    embed::{EmbedError, Role},
    safetensors::Damaged,
    static_table::pieces,
    vectors::normalize,
};
use functions::{add_and_norm, gelu, softmax};
use matrix::Activations;
use weights::{Layer, WIDTH, Weights};

/// Number of dimensions.
pub(crate) const DIMENSIONS: usize = WIDTH;

/// Maximum number of tokens of a record, including start and end tokens.
const MAX_TOKENS: usize = 128;

/// Maximum number of tokens of a question, to limit latency. A higher limit did not improve retrieval.
const MAX_QUESTION_TOKENS: usize = 40;

/// Maximum length of a text, in bytes: more than [`MAX_TOKENS`] common words.
const MAX_TEXT_BYTES: usize = 4_096;

const HEADS: usize = 12;
const HEAD: usize = WIDTH / HEADS;

static WEIGHTS: LazyLock<Result<Weights, Damaged>> = LazyLock::new(Weights::read);

/// Embeds a text as a vector of length 1, or zero if it contains no known word.
///
/// # Errors
/// [`EmbedError`] if the shipped files are damaged.
pub(crate) fn embed(role: Role, text: &str) -> Result<Vec<f32>, EmbedError> {
    let failed = |reason: String| EmbedError { model: "the shipped transformer".into(), reason };
    let weights = WEIGHTS.as_ref().map_err(|damaged| failed(damaged.to_string()))?;
    let most = match role {
        Role::Query => MAX_QUESTION_TOKENS,
        Role::Record => MAX_TOKENS,
    };
    let begin = weights.word_scales.len().saturating_sub(2) as u32;
    let known = pieces(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)])?;
    let known: Vec<u32> = known.into_iter().filter(|piece| *piece < begin).take(most - 2).collect();
    if known.is_empty() {
        return Ok(vec![0.0; DIMENSIONS]);
    }
    let tokens: Vec<u32> = std::iter::once(begin).chain(known).chain([begin + 1]).collect();
    Ok(encode(weights, &tokens))
}

/// Calls [`encode_plain`] compiled for the widest instruction set of this machine.
fn encode(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512bw") && std::arch::is_x86_feature_detected!("avx512vl") {
            // SAFETY: the instruction set was checked above.
            #[expect(unsafe_code, reason = "the same code, compiled for AVX-512, is four times as fast")]
            return unsafe { encode_avx512(weights, tokens) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the instruction set was checked above.
            #[expect(unsafe_code, reason = "the same code, compiled for AVX2, is twice as fast")]
            return unsafe { encode_avx2(weights, tokens) };
        }
    }
    encode_plain(weights, tokens)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn encode_avx512(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    encode_plain(weights, tokens)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn encode_avx2(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    encode_plain(weights, tokens)
}

#[inline(always)]
fn encode_plain(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    let mut x = Vec::with_capacity(tokens.len() * WIDTH);
    for token in tokens {
        let scale = weights.word_scales[*token as usize];
        let row = &weights.words[*token as usize * WIDTH..][..WIDTH];
        x.extend(row.iter().map(|value| f32::from(*value as i8) * scale));
    }
    add_and_norm(&mut x, &weights.positions, &weights.embedded_norm);
    let mut room = Room::default();
    for layer in &weights.layers {
        pass(layer, &mut x, &mut room);
    }
    let mut mean = vec![0.0_f32; WIDTH];
    for row in x.chunks_exact(WIDTH) {
        for (sum, value) in mean.iter_mut().zip(row) {
            *sum += value;
        }
    }
    normalize(&mut mean);
    mean
}

/// Buffers of a layer, reused by the next one.
#[derive(Default)]
struct Room {
    activations: Activations,
    asked: Vec<f32>,
    attended: Vec<f32>,
    out: Vec<f32>,
}

/// Applies a layer to the tokens.
#[inline(always)]
fn pass(layer: &Layer, x: &mut [f32], room: &mut Room) {
    let Room { activations, asked, attended, out } = room;
    activations.quantize(x, WIDTH);
    activations.pass(&layer.asked, asked);
    attend(asked, attended);
    activations.quantize(attended, WIDTH);
    activations.pass(&layer.attended, out);
    add_and_norm(x, out, &layer.attended_norm);
    activations.quantize(x, WIDTH);
    activations.pass(&layer.inner, asked);
    for value in asked.iter_mut() {
        *value = gelu(*value);
    }
    activations.quantize(asked, 4 * WIDTH);
    activations.pass(&layer.outer, out);
    add_and_norm(x, out, &layer.outer_norm);
}

/// Multi-head attention: <https://arxiv.org/abs/1706.03762>. A row of `asked` contains the query, key and value of a
/// token.
#[inline(always)]
fn attend(asked: &[f32], attended: &mut Vec<f32>) {
    let tokens = asked.len() / (3 * WIDTH);
    attended.clear();
    attended.resize(tokens * WIDTH, 0.0);
    let sharpness = 1.0 / (HEAD as f32).sqrt();
    let mut answers = vec![0.0_f32; HEAD * tokens];
    let mut shares = vec![0.0_f32; tokens];
    for head in 0..HEADS {
        let part = |token: usize, of: usize| &asked[token * 3 * WIDTH + of * WIDTH + head * HEAD..][..HEAD];
        for token in 0..tokens {
            for (at, value) in part(token, 1).iter().enumerate() {
                answers[at * tokens + token] = *value;
            }
        }
        for token in 0..tokens {
            shares.fill(0.0);
            for (question, answers) in part(token, 0).iter().zip(answers.chunks_exact(tokens)) {
                let question = question * sharpness;
                for (share, answer) in shares.iter_mut().zip(answers) {
                    *share += question * answer;
                }
            }
            softmax(&mut shares);
            let mut sums = [0.0_f32; HEAD];
            for (other, share) in shares.iter().enumerate() {
                let said = part(other, 2).first_chunk::<HEAD>().unwrap_or(&[0.0; HEAD]);
                for (sum, value) in sums.iter_mut().zip(said) {
                    *sum += share * value;
                }
            }
            attended[token * WIDTH + head * HEAD..][..HEAD].copy_from_slice(&sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Example {
        text: String,
        vector: Vec<f32>,
    }

    #[test]
    fn matches_the_exact_model() {
        let examples: Vec<Example> = serde_json::from_str(include_str!("../tests/encoder.json")).unwrap();
        assert!(examples.len() > 5);
        for Example { text, vector } in examples {
            let got = embed(Role::Record, &text).unwrap();
            let cosine: f32 = got.iter().zip(&vector).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.999, "{text}: {cosine}");
        }
    }

    #[test]
    fn vectors_are_reproducible() {
        let weights = WEIGHTS.as_ref().unwrap();
        let tokens: Vec<u32> = (0..23).map(|at| at * 131 + 1_000).collect();
        assert_eq!(encode(weights, &tokens), encode_plain(weights, &tokens));
    }

    #[test]
    fn embeds_texts_of_any_length() {
        assert!(embed(Role::Record, "").unwrap().iter().all(|value| *value == 0.0));
        assert!(embed(Role::Record, "\u{1F9FF}").unwrap().iter().all(|value| *value == 0.0));
        let long = embed(Role::Record, &"the quick brown fox é".repeat(10_000)).unwrap();
        assert!((long.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-4);
        let question = "what is the quick brown fox ".repeat(10);
        assert_ne!(embed(Role::Query, &question).unwrap(), embed(Role::Record, &question).unwrap(), "it is cut");
    }
}
