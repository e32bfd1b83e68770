//! The files of a model, and its embedding settings.
//!
//! Layout: <https://sbert.net/docs/package_reference/sentence_transformer/models.html> and the ONNX exports of
//! `optimum`.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use fastembed::{OutputKey, Pooling};
use serde::Deserialize;

use super::TransformerError;
use crate::embed::Role;

/// Accepted names of the network, in order of precedence.
const NETWORKS: [&str; 6] = [
    "model.onnx",
    "model_quantized.onnx",
    "model_optimized.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_optimized.onnx",
];

/// Text prefixes, by role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prompts {
    pub(super) query: String,
    pub(super) record: String,
}

impl Prompts {
    pub(super) fn new(query: &str, record: &str) -> Self {
        Prompts { query: query.into(), record: record.into() }
    }

    pub(super) fn of(&self, role: Role) -> &str {
        match role {
            Role::Query => &self.query,
            Role::Record => &self.record,
        }
    }
}

/// The paths of the files, and the settings.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) onnx: PathBuf,
    /// External weight files, by the names used in the network.
    pub(super) external: Vec<(String, PathBuf)>,
    pub(super) tokenizer: PathBuf,
    pub(super) tokenizer_config: PathBuf,
    pub(super) config: Option<PathBuf>,
    pub(super) special_tokens: Option<PathBuf>,
    pub(super) pooling: Pooling,
    pub(super) prompts: Prompts,
    pub(super) output: Option<OutputKey>,
}

/// The content of the files.
pub(super) struct Contents {
    pub(super) onnx: Vec<u8>,
    pub(super) external: Vec<(String, Vec<u8>)>,
    pub(super) tokenizer: Vec<u8>,
    pub(super) tokenizer_config: Vec<u8>,
    pub(super) config: Vec<u8>,
    pub(super) special_tokens: Vec<u8>,
    usage: String,
}

impl Files {
    /// Locates the files in a folder.
    pub(super) fn in_folder(folder: &Path) -> Result<Files, TransformerError> {
        fs::read_dir(folder).map_err(|source| TransformerError::Read { path: folder.to_owned(), source })?;
        let onnx = NETWORKS.iter().map(|name| folder.join(name)).find(|path| path.is_file()).ok_or_else(|| {
            TransformerError::NoModel { folder: folder.to_owned(), tried: NETWORKS.map(str::to_owned).to_vec() }
        })?;
        let present = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        let name = onnx.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let external = [format!("{name}_data"), format!("{name}.data")]
            .into_iter()
            .map(|name| (onnx.with_file_name(&name), name))
            .filter(|(path, _)| path.is_file())
            .map(|(path, name)| (name, path))
            .collect();
        let pooling = present("1_Pooling/config.json").map(|path| pooling(&path)).transpose()?.unwrap_or(Pooling::Mean);
        let prompts =
            present("config_sentence_transformers.json").map(|path| prompts(&path)).transpose()?.unwrap_or_default();
        Ok(Files {
            onnx,
            external,
            tokenizer: folder.join("tokenizer.json"),
            tokenizer_config: folder.join("tokenizer_config.json"),
            config: present("config.json"),
            special_tokens: present("special_tokens_map.json"),
            pooling,
            prompts,
            output: None,
        })
    }

    pub(super) fn read(&self) -> Result<Contents, TransformerError> {
        let optional = |path: &Option<PathBuf>| path.as_ref().map_or(Ok(b"{}".to_vec()), |path| read(path));
        let external: Result<_, TransformerError> =
            self.external.iter().map(|(name, path)| Ok((name.clone(), read(path)?))).collect();
        Ok(Contents {
            onnx: read(&self.onnx)?,
            external: external?,
            tokenizer: read(&self.tokenizer)?,
            tokenizer_config: read(&self.tokenizer_config)?,
            config: optional(&self.config)?,
            special_tokens: optional(&self.special_tokens)?,
            usage: format!("{:?} {:?} {:?}", self.pooling, self.prompts, self.output),
        })
    }
}

impl Contents {
    /// Returns a fingerprint of everything that affects the vectors, in twelve hexadecimal digits.
    pub(super) fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let external = self.external.iter().map(|(_, bytes)| bytes.as_slice());
        let parts = [&self.onnx, &self.tokenizer, &self.tokenizer_config, &self.config, &self.special_tokens];
        for part in parts.into_iter().map(Vec::as_slice).chain(external).chain([self.usage.as_bytes()]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().to_hex()[..12].to_owned()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TransformerError> {
    fs::read(path).map_err(|source| TransformerError::Read { path: path.to_owned(), source })
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, TransformerError> {
    let unreadable = |error: serde_json::Error| TransformerError::Read {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidData, error),
    };
    serde_json::from_slice(&read(path)?).map_err(unreadable)
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

fn pooling(path: &Path) -> Result<Pooling, TransformerError> {
    match parse(path)? {
        PoolingFile { pooling_mode_mean_tokens: true, .. } => Ok(Pooling::Mean),
        PoolingFile { pooling_mode_cls_token: true, .. } => Ok(Pooling::Cls),
        _ => Err(TransformerError::Unusable {
            path: path.to_owned(),
            reason: "unsupported pooling: only mean and first-token pooling are supported".into(),
        }),
    }
}

#[derive(Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: HashMap<String, String>,
}

fn prompts(path: &Path) -> Result<Prompts, TransformerError> {
    let PromptsFile { mut prompts } = parse(path)?;
    let mut named = |name: &str| prompts.remove(name);
    let record = named("document").or_else(|| named("passage"));
    Ok(Prompts { query: named("query").unwrap_or_default(), record: record.unwrap_or_default() })
}
