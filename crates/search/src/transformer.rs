//! ONNX transformers as embedders: slower than the static table, with better semantic similarity.
//!
//! [`Transformer::from_folder`] loads a model from a folder, [`Transformer::from_hub`] by name from the Hugging Face
//! Hub. `fastembed` (<https://github.com/Anush008/fastembed-rs>) tokenizes and pools, onnxruntime runs the model. With
//! the feature `fastembed`, an onnxruntime downloaded at build time is linked; with `fastembed-dynamic`, one is opened
//! at run time.
//!
//! The environment is not read, and nothing is written outside the cache folder of a [`Hub`].

mod files;
mod hub;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use fastembed::{InitOptionsUserDefined, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel};

use crate::embed::{EmbedError, Embedder, ModelId, Role};
use files::{Files, Prompts};

pub use hub::Hub;

/// Maximum length of a text, in bytes: well beyond the 512 tokens of a model.
const MAX_TEXT_BYTES: usize = 8_192;

/// A failure to load a transformer.
#[derive(Debug, thiserror::Error)]
pub enum TransformerError {
    /// No usable onnxruntime was found.
    #[error("cannot open onnxruntime: {reason}")]
    Runtime {
        /// The library and the problem.
        reason: String,
    },
    /// A folder contains no model.
    #[error("no model in {}: expected one of {}", folder.display(), tried.join(", "))]
    NoModel {
        /// The folder.
        folder: PathBuf,
        /// The expected file names.
        tried: Vec<String>,
    },
    /// A file of a model could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The files of a model are damaged, or are not a text embedder.
    #[error("cannot use the model {}: {reason}", path.display())]
    Unusable {
        /// The ONNX file, or the damaged file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The model name is unknown.
    #[error("unknown model `{name}`{}", if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(", ")) })]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names.
        nearest: Vec<String>,
    },
    /// A file of a model could not be downloaded.
    #[error("cannot download {file} of {model} from {endpoint}: {reason}")]
    Download {
        /// The name of the model on the hub.
        model: String,
        /// The name of the file.
        file: String,
        /// The URL of the hub.
        endpoint: String,
        /// The reason.
        reason: String,
    },
}

/// An embedder that runs a transformer. Threads share it and run one at a time.
pub struct Transformer {
    id: ModelId,
    dimensions: usize,
    prompts: Prompts,
    model: Mutex<TextEmbedding>,
}

impl Transformer {
    /// Loads a model from a folder with `model.onnx`, `model_quantized.onnx` or `model_optimized.onnx` (also in
    /// `onnx/`), `tokenizer.json` and `tokenizer_config.json`. Optional files: `config.json`,
    /// `special_tokens_map.json`, `1_Pooling/config.json` (default: mean pooling) and
    /// `config_sentence_transformers.json` (prompts).
    ///
    /// `runtime` is the path of the onnxruntime library; `None` selects the system's. It is ignored if a library is
    /// linked. The first library opened is used by the whole process.
    ///
    /// # Errors
    /// [`TransformerError`], which names the library or file.
    pub fn from_folder(folder: &Path, runtime: Option<&Path>) -> Result<Transformer, TransformerError> {
        Transformer::load(Files::in_folder(folder)?, runtime)
    }

    /// Loads a model by name, such as `all-MiniLM-L6-v2`, `bge-small-en-v1.5` or `multilingual-e5-small`; the suffix
    /// `-q` (`all-MiniLM-L6-v2-q`) selects the quantized form. Files missing from the cache are downloaded. For
    /// `runtime`, see [`Transformer::from_folder`].
    ///
    /// # Errors
    /// [`TransformerError`], with similar names if the model is unknown.
    pub fn from_hub(name: &str, hub: &Hub, runtime: Option<&Path>) -> Result<Transformer, TransformerError> {
        Transformer::load(hub.fetch(name)?, runtime)
    }

    fn load(files: Files, runtime: Option<&Path>) -> Result<Transformer, TransformerError> {
        let read = files.read()?;
        open_runtime(runtime)?;
        let path = files.onnx;
        let unusable = |reason: String| TransformerError::Unusable { path: path.clone(), reason };
        let id = read.digest();
        let prompts = files.prompts;
        let tokenizer_files = TokenizerFiles {
            tokenizer_file: read.tokenizer,
            config_file: read.config,
            special_tokens_map_file: read.special_tokens,
            tokenizer_config_file: read.tokenizer_config,
        };
        let mut model = UserDefinedEmbeddingModel::new(read.onnx, tokenizer_files).with_pooling(files.pooling);
        model.output_key = files.output;
        for (name, bytes) in read.external {
            model = model.with_external_initializer(name, bytes);
        }
        let model = TextEmbedding::try_new_from_user_defined(model, InitOptionsUserDefined::default())
            .map_err(|error| unusable(error.to_string()))?;
        let mut transformer = Transformer { id: ModelId(String::new()), dimensions: 0, prompts, model: model.into() };
        // A test run is more reliable than the configuration files.
        let probe = transformer.run(&["a table of customers".to_owned()]).map_err(unusable)?;
        transformer.dimensions = probe.first().map_or(0, Vec::len);
        if transformer.dimensions == 0 {
            return Err(unusable("it returns empty vectors".into()));
        }
        transformer.id = ModelId(format!("onnx-{}-{id}", transformer.dimensions));
        Ok(transformer)
    }

    /// Embeds one text at a time: padding a batch costs more than it saves, and quantized models return different
    /// vectors in a batch. The tokenizer would also use the thread pool, which may be waiting for this lock.
    fn run(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            // In a single call, `fastembed` would keep the token vectors of all texts until the end.
            vectors.extend(model.embed([text], Some(1)).map_err(|error| error.to_string())?);
        }
        if vectors.iter().flatten().any(|value: &f32| !value.is_finite()) {
            return Err("it returns vectors that contain NaN or infinity".into());
        }
        Ok(vectors)
    }
}

impl Embedder for Transformer {
    fn model(&self) -> &ModelId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let fail = |reason: String| EmbedError { model: self.id.0.clone(), reason };
        let prompt = self.prompts.of(role);
        let blank = |text: &&str| text.trim().is_empty();
        let full: Vec<String> = texts
            .iter()
            .filter(|text| !blank(text))
            .map(|text| format!("{prompt}{}", &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]))
            .collect();
        let mut vectors = self.run(&full).map_err(fail)?.into_iter();
        texts
            .iter()
            .map(|text| if blank(text) { Some(vec![0.0; self.dimensions]) } else { vectors.next() })
            .map(|vector| vector.filter(|vector| vector.len() == self.dimensions))
            .collect::<Option<_>>()
            .ok_or_else(|| fail("it returned an unexpected number or size of vectors".into()))
    }
}

/// Opens onnxruntime explicitly, as `ort` would panic on failure.
#[cfg(feature = "fastembed-dynamic")]
fn open_runtime(library: Option<&Path>) -> Result<(), TransformerError> {
    let usual = format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = match library {
        // A path is relative to the working directory; a bare name is resolved by the system.
        Some(path) if path.components().count() > 1 => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        Some(name) => name.to_owned(),
        None => PathBuf::from(usual),
    };
    match ort::init_from(&library) {
        Ok(_) => Ok(()),
        Err(error) => Err(TransformerError::Runtime { reason: error.to_string() }),
    }
}

#[cfg(not(feature = "fastembed-dynamic"))]
fn open_runtime(_library: Option<&Path>) -> Result<(), TransformerError> {
    Ok(())
}
