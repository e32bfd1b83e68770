//! Models by name, from the Hugging Face Hub or a compatible server.
//!
//! Names, repositories and pooling are from the table of `fastembed`; prefixes are from the model cards.

use std::path::PathBuf;

use fastembed::{EmbeddingModel, ModelInfo, TextEmbedding};
use hf_hub::{Cache, api::sync::ApiBuilder};
use prospector_core::name::{nearest, normalize};

use super::{
    TransformerError,
    files::{Files, Prompts},
};

const ENDPOINT: &str = "https://huggingface.co";

/// The source and cache of models.
#[derive(Clone, Default)]
pub struct Hub {
    /// The cache folder, in the layout of the Hugging Face tools.
    pub cache: PathBuf,
    /// A server other than `https://huggingface.co`.
    pub endpoint: Option<String>,
    /// The access token, for gated models.
    pub token: Option<String>,
    /// Whether to draw a progress bar on standard error.
    pub progress: bool,
}

impl Hub {
    /// Returns the files of a model, downloading those that are not cached.
    pub(super) fn fetch(&self, name: &str) -> Result<Files, TransformerError> {
        let info = find(name)?;
        let endpoint = self.endpoint.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/');
        let failed = |file: &str, reason: String| TransformerError::Download {
            model: info.model_code.clone(),
            file: file.to_owned(),
            endpoint: endpoint.to_owned(),
            reason,
        };
        let api = ApiBuilder::from_cache(Cache::new(self.cache.clone()))
            .with_endpoint(endpoint.to_owned())
            .with_token(self.token.clone())
            .with_progress(self.progress)
            .build()
            .map_err(|error| failed(&info.model_file, error.to_string()))?;
        let repository = api.model(info.model_code.clone());
        let get = |file: &str| repository.get(file).map_err(|error| failed(file, error.to_string()));
        // Small files first, so that errors are reported early.
        let tokenizer = get("tokenizer.json")?;
        let tokenizer_config = get("tokenizer_config.json")?;
        let config = Some(get("config.json")?);
        let special_tokens = Some(get("special_tokens_map.json")?);
        let mut external = Vec::new();
        for file in &info.additional_files {
            let name = file.rsplit('/').next().unwrap_or(file);
            external.push((name.to_owned(), get(file)?));
        }
        Ok(Files {
            onnx: get(&info.model_file)?,
            external,
            tokenizer,
            tokenizer_config,
            config,
            special_tokens,
            pooling: TextEmbedding::get_default_pooling_method(&info.model).unwrap_or_default(),
            prompts: prompts(&info.model),
            output: info.output_key,
        })
    }
}

/// Returns the model with this name, ignoring case and punctuation, or with this repository.
fn find(name: &str) -> Result<ModelInfo<EmbeddingModel>, TransformerError> {
    let mut models = TextEmbedding::list_supported_models();
    // If a repository has several variants, the plain one has the shortest name.
    models.sort_by_key(|info| (info.model.to_string().len(), info.model.to_string()));
    let wanted = normalize(name);
    let named = |info: &&ModelInfo<EmbeddingModel>| normalize(&info.model.to_string()) == wanted;
    let in_repository = |info: &&ModelInfo<EmbeddingModel>| {
        let code = &info.model_code;
        normalize(code) == wanted || code.rsplit('/').next().is_some_and(|last| normalize(last) == wanted)
    };
    if let Some(found) = models.iter().find(named).or_else(|| models.iter().find(in_repository)) {
        return Ok(found.clone());
    }
    let names: Vec<String> = models.iter().map(|info| info.model.to_string()).collect();
    Err(TransformerError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, names.iter().map(String::as_str), 3),
    })
}

/// Returns the prefixes with which a model was trained, for questions and passages.
fn prompts(model: &EmbeddingModel) -> Prompts {
    use EmbeddingModel as M;
    let passages = "Represent this sentence for searching relevant passages: ";
    match model {
        M::MultilingualE5Small | M::MultilingualE5Base | M::MultilingualE5Large => Prompts::new("query: ", "passage: "),
        M::NomicEmbedTextV1 | M::NomicEmbedTextV15 | M::NomicEmbedTextV15Q | M::ModernBertEmbedLarge => {
            Prompts::new("search_query: ", "search_document: ")
        }
        M::EmbeddingGemma300M | M::EmbeddingGemma300MQ | M::EmbeddingGemma300MQ4 => {
            Prompts::new("task: search result | query: ", "title: none | text: ")
        }
        M::BGESmallENV15
        | M::BGESmallENV15Q
        | M::BGEBaseENV15
        | M::BGEBaseENV15Q
        | M::BGELargeENV15
        | M::BGELargeENV15Q
        | M::MxbaiEmbedLargeV1
        | M::MxbaiEmbedLargeV1Q
        | M::SnowflakeArcticEmbedXS
        | M::SnowflakeArcticEmbedXSQ
        | M::SnowflakeArcticEmbedS
        | M::SnowflakeArcticEmbedSQ
        | M::SnowflakeArcticEmbedM
        | M::SnowflakeArcticEmbedMQ
        | M::SnowflakeArcticEmbedMLong
        | M::SnowflakeArcticEmbedMLongQ
        | M::SnowflakeArcticEmbedL
        | M::SnowflakeArcticEmbedLQ => Prompts::new(passages, ""),
        M::BGESmallZHV15 | M::BGELargeZHV15 => Prompts::new("为这个句子生成表示以用于检索相关文章：", ""),
        _ => Prompts::default(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    fn check(name: &str, model: EmbeddingModel) {
        assert_eq!(find(name).unwrap().model, model, "{name}");
    }

    #[test]
    fn resolves_model_names() {
        check("all-MiniLM-L6-v2", EmbeddingModel::AllMiniLML6V2);
        check("all-minilm-l6-v2-q", EmbeddingModel::AllMiniLML6V2Q);
        check("bge-small-en-v1.5", EmbeddingModel::BGESmallENV15);
        check("Xenova/all-MiniLM-L12-v2", EmbeddingModel::AllMiniLML12V2);
        check("paraphrase-multilingual-MiniLM-L12-v2", EmbeddingModel::ParaphraseMLMiniLML12V2);
        let error = find("all-MiniLM-L7").unwrap_err().to_string();
        assert!(error.contains("AllMiniLML6V2"), "{error}");
    }
}
