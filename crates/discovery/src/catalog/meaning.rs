//! Metrics, segments and verified queries, which may refer to each other by name.

use std::{path::PathBuf, sync::Arc};

use prospector_core::Problem;
use prospector_engine::{Engine, options::NamedQuery};
use prospector_queries::VerifiedQueries;
use prospector_semantics::SemanticModel;

use super::{
    CatalogError,
    file_schema::FolderEntry,
    load,
    metrics::{MetricEntry, Metrics},
    section::Opening,
    verified::{Verified, read_queries},
};

/// The semantic layer and the verified queries.
pub(super) struct Meaning {
    pub(super) metrics: Arc<SemanticModel>,
    pub(super) verified: Arc<VerifiedQueries>,
    /// The folder for approved queries.
    pub(super) folder: Option<PathBuf>,
    /// The queries that statements can use as tables: `segments.NAME` and `queries.NAME`.
    pub(super) named: Vec<NamedQuery>,
}

impl Meaning {
    /// Loads the metrics and segments, and the verified queries, which are checked against the sources of an engine.
    ///
    /// # Errors
    /// [`CatalogError::Cancelled`].
    pub(super) async fn load(
        mut metrics: Metrics,
        entries: Vec<MetricEntry>,
        queries: Vec<FolderEntry>,
        engine: &Engine,
        opening: &mut Opening<'_>,
    ) -> Result<Meaning, CatalogError> {
        let (verified, folder) = read_queries(&queries, opening);
        let named = verified.name_queries(engine).await;
        metrics.queries.clone_from(&named);
        let model = load(metrics, entries, opening).await?;
        let (segments, problems) = model.name_queries(engine);
        opening.problems.extend(problems);
        let engine = engine.with_named([named, segments.clone()].concat());
        let verified = load(Verified { engine: engine.clone(), queries: verified }, queries, opening).await?;
        // Stale queries are not available.
        let named = [verified.name_queries(&engine).await, segments.clone()].concat();
        let problems = check_segments(&model, &segments, &engine.with_named(named.clone())).await;
        opening.problems.extend(problems);
        Ok(Meaning { metrics: model, verified, folder, named })
    }
}

/// Reports segments whose query is stale, recursive or uses functions that are not allowed.
async fn check_segments(model: &SemanticModel, named: &[NamedQuery], engine: &Engine) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (segment, query) in model.segments().iter().zip(named).filter(|(_, query)| query.refusal.is_none()) {
        if let Err(failure) = engine.inspect(&query.sql, query.database.as_deref()).await {
            let reason = format!("{}, in segment `{}`", failure.message, segment.name);
            let advice = failure.suggestion.unwrap_or_else(|| "correct the segment or its query".to_owned());
            problems.push(Problem::error(&segment.place, reason).advise(advice));
        }
    }
    problems
}
