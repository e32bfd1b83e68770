//! Transformers in ONNX as embedders: slower than the static table, and better at meanings.
//!
//! [`Transformer::from_folder`] takes a model from a folder, [`Transformer::from_hub`] by its name from the Hugging Face
//! Hub. `fastembed` (<https://github.com/Anush008/fastembed-rs>) tokenizes and pools, onnxruntime computes. With the
//! feature `fastembed` the program links an onnxruntime that its build downloads; with `fastembed-dynamic` it opens one at
//! run time.
//!
//! What it is not: it neither reads the environment nor writes anywhere but into the cache folder of a [`Hub`].

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

/// No text is read further than this, in bytes: well beyond the 512 tokens that a model is shown.
const MAX_TEXT_BYTES: usize = 8_192;

/// A transformer could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TransformerError {
    /// There is no usable onnxruntime.
    #[error("cannot open onnxruntime: {reason}")]
    Runtime {
        /// Which library was tried, and what is wrong with it.
        reason: String,
    },
    /// A folder holds no model.
    #[error("there is no model in {}: it needs one of {}", folder.display(), tried.join(", "))]
    NoModel {
        /// The folder.
        folder: PathBuf,
        /// The names that were looked for.
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
    /// The files of a model are damaged, or do not hold a text embedder.
    #[error("cannot use the model {}: {reason}", path.display())]
    Unusable {
        /// The ONNX file, or the one that is damaged.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The hub is not known to have such a model.
    #[error("there is no model `{name}`; the nearest are {}", nearest.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Names that exist.
        nearest: Vec<String>,
    },
    /// A file of a model could not be downloaded.
    #[error("cannot download {file} of {model} from {endpoint}: {reason}")]
    Download {
        /// The model, as the hub calls it.
        model: String,
        /// The file.
        file: String,
        /// The hub.
        endpoint: String,
        /// What went wrong, in words.
        reason: String,
    },
}

/// An embedder over a transformer. It is shared by threads, which wait for each other.
pub struct Transformer {
    id: ModelId,
    dimensions: usize,
    prompts: Prompts,
    model: Mutex<TextEmbedding>,
}

impl Transformer {
    /// The model in a folder: `model.onnx`, `model_quantized.onnx`, `model_optimized.onnx`, or one of them in `onnx/`;
    /// `tokenizer.json` and `tokenizer_config.json`. Where they are there, `config.json`, `special_tokens_map.json`,
    /// `1_Pooling/config.json` (else the mean of the tokens) and the prompts of `config_sentence_transformers.json` are
    /// heeded too.
    ///
    /// `runtime` is the onnxruntime library to open, the system's where it is `None`; a build that links one ignores it.
    /// The first that was opened serves the whole process.
    ///
    /// # Errors
    /// [`TransformerError`] that names the library or the file.
    pub fn from_folder(folder: &Path, runtime: Option<&Path>) -> Result<Transformer, TransformerError> {
        Transformer::load(Files::in_folder(folder)?, runtime)
    }

    /// A model by its name, such as `all-MiniLM-L6-v2`, `bge-small-en-v1.5` or `multilingual-e5-small`; a `q` at the end
    /// (`all-MiniLM-L6-v2-q`) means its quantized form. What is not in the cache is downloaded. `runtime` as for
    /// [`Transformer::from_folder`].
    ///
    /// # Errors
    /// [`TransformerError`], with the nearest names where there is no such model.
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
        // What the model makes of a text says more than what its files claim.
        let probe = transformer.run(&["a table of customers".to_owned()]).map_err(unusable)?;
        transformer.dimensions = probe.first().map_or(0, Vec::len);
        if transformer.dimensions == 0 {
            return Err(unusable("it makes empty vectors".into()));
        }
        transformer.id = ModelId(format!("onnx-{}-{id}", transformer.dimensions));
        Ok(transformer)
    }

    /// One text at a time: padding to the longest of a batch costs more than the batch saves, and a quantized model makes
    /// other vectors in other company. Besides, the tokenizer would spread a batch over the thread pool that may be
    /// waiting for this very lock.
    fn run(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            // In one call, `fastembed` would keep the vectors of all tokens of all texts until the last is done.
            vectors.extend(model.embed([text], Some(1)).map_err(|error| error.to_string())?);
        }
        if vectors.iter().flatten().any(|value: &f32| !value.is_finite()) {
            return Err("it makes vectors that are not numbers".into());
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
            .ok_or_else(|| fail("it made fewer or other vectors than it was asked for".into()))
    }
}

/// Opens onnxruntime, which `ort` would else do by itself, and panic where it cannot.
#[cfg(feature = "fastembed-dynamic")]
fn open_runtime(library: Option<&Path>) -> Result<(), TransformerError> {
    let usual = format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = match library {
        // A path is meant from here; a bare name is for the system to find.
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
