//! The YAML form of a workflow. Every name has its position in the file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

type Placed = Spanned<String>;

/// A workflow file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) workflow: String,
    pub(crate) begin: Placed,
    pub(crate) role: String,
    #[serde(default)]
    pub(crate) products: Vec<WrittenProduct>,
    pub(crate) phases: Vec<WrittenPhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenProduct {
    pub(crate) name: Placed,
    pub(crate) tool: Placed,
    #[serde(default)]
    pub(crate) each: Option<Placed>,
    #[serde(default)]
    pub(crate) holds: Option<Placed>,
    #[serde(default)]
    pub(crate) forgets: Vec<Placed>,
}

pub(crate) type Amounts = BTreeMap<String, Spanned<usize>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenPhase {
    pub(crate) name: Placed,
    #[serde(default)]
    pub(crate) needs: Amounts,
    #[serde(default)]
    pub(crate) tools: Vec<Placed>,
    #[serde(default)]
    pub(crate) user: bool,
    pub(crate) instructions: String,
    #[serde(default)]
    pub(crate) context: Vec<WrittenInjection>,
    pub(crate) advance: Vec<WrittenWay>,
    #[serde(default)]
    pub(crate) on_error: WrittenPolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenInjection {
    pub(crate) product: Placed,
    pub(crate) max_tokens: Spanned<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenWay {
    pub(crate) to: Placed,
    #[serde(default)]
    pub(crate) when: Amounts,
    #[serde(default)]
    pub(crate) note: Option<Placed>,
    #[serde(default)]
    pub(crate) automatic: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenPolicy {
    #[serde(default)]
    pub(crate) retry: Option<u32>,
    #[serde(default)]
    pub(crate) then: WrittenThen,
    #[serde(default)]
    pub(crate) to: Option<Placed>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrittenThen {
    #[default]
    Stop,
    Tell,
    Back,
    Skip,
}
