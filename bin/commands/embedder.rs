//! `--embedder`: the embedder that computes vectors.

use std::sync::Arc;

use prospector_search::{StaticTable, embed::Embedder};

use crate::{
    cli::{EmbedderName, TransformerName},
    settings::Settings,
};

/// Opens the embedder, if one is used.
pub(super) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    match settings.embedder()? {
        EmbedderName::Static => Ok(Some(Arc::new(StaticTable::shipped()?))),
        EmbedderName::None => Ok(None),
        EmbedderName::Transformer(name) => transformer(&name, settings).map(Some),
    }
}

#[cfg(any(feature = "fastembed", feature = "fastembed-dynamic"))]
fn transformer(name: &TransformerName, settings: &Settings) -> anyhow::Result<Arc<dyn Embedder>> {
    use prospector_search::transformer::{Transformer, TransformerError};

    let runtime = settings.onnxruntime();
    let opened = match name {
        TransformerName::Folder(folder) => Transformer::from_folder(folder, runtime.as_deref()),
        TransformerName::Model(model) => Transformer::from_hub(model, &settings.hub()?, runtime.as_deref()),
    };
    match opened {
        Ok(transformer) => Ok(Arc::new(transformer)),
        Err(error) => {
            let advice = match &error {
                TransformerError::Runtime { .. } => {
                    "set ORT_DYLIB_PATH to the library of onnxruntime 1.24 or newer; the Python package `onnxruntime` \
                     has one in its folder `capi`"
                }
                TransformerError::NoModel { .. } | TransformerError::Read { .. } => {
                    "name a folder with model.onnx, tokenizer.json and tokenizer_config.json"
                }
                TransformerError::Unusable { .. } => "if the file is damaged, remove it and download it again",
                TransformerError::Unknown { .. } => "unlisted models can be loaded from a folder",
                TransformerError::Download { .. } => {
                    "set HF_ENDPOINT to another server, or load the model from a folder"
                }
            };
            Err(anyhow::anyhow!("{error} ({advice}; `--embedder static` needs neither model nor library)"))
        }
    }
}

#[cfg(not(any(feature = "fastembed", feature = "fastembed-dynamic")))]
fn transformer(name: &TransformerName, _settings: &Settings) -> anyhow::Result<Arc<dyn Embedder>> {
    anyhow::bail!(
        "this build does not support transformers, which the embedder `{name}` needs: build with `--features fastembed` \
         (the build downloads onnxruntime) or `--features fastembed-dynamic` (it loads your library), or omit --embedder"
    )
}
