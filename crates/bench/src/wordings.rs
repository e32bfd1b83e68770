//! The verdicts of verification on plans that are known to be correct or defective.
//!
//! A folder contains one folder per catalog, each with a `queries.yaml`: questions in several wordings and languages,
//! each with a correct plan, and with defective plans whose [`Defect`] is known. Structural defects, such as an unknown
//! column or a fan-out, are the task of verification. Semantic ones, such as a wrong measure, require understanding the
//! question; they are counted to show that verification does not judge them. Verdicts do not depend on the question, so
//! each plan is verified once.

mod database;
mod defect;
mod file;
mod report;

use std::path::PathBuf;
use std::sync::Arc;

use prospector_agent::plan::{Plan, Verification, verify_plan};
use prospector_core::Problem;
use prospector_discovery::{Catalog, CatalogOptions};
use tempfile::TempDir;

pub use defect::Defect;
pub use report::{Outcome, Report, Tally, Verdict};

use crate::{error::BenchError, estate::OptionsFn};
use file::QuerySet;

/// The plans to verify, and the options.
pub struct Setup<'a> {
    /// The folder with one folder per catalog.
    pub data: PathBuf,
    /// Restricts the bench to these folders; all if empty.
    pub only: Vec<String>,
    /// The options to open a catalog with; its state is kept in a temporary folder, and its index has no vectors.
    pub options: &'a OptionsFn<'a>,
    /// Receives the problems of the catalogs.
    pub notify: &'a dyn Fn(&[Problem]),
}

/// Verifies the plans of all catalogs.
///
/// # Errors
/// If the folder, a file of queries or a script cannot be read, or if a catalog cannot be opened.
pub async fn measure(setup: &Setup<'_>) -> Result<Report, BenchError> {
    let mut report = Report::default();
    for folder in file::list_folders(&setup.data, &setup.only)? {
        let set = file::read(&folder)?;
        let opened = open(&set, setup).await?;
        report.catalogs += 1;
        // Sequential, as the time to compare a statement with the data is limited.
        for query in set.queries {
            report.queries += 1;
            for (defect, plan) in query.plans {
                let found = verify(plan, &opened.catalog).await;
                report.add(Verdict::new(&query.id, defect, &found));
            }
        }
    }
    Ok(report)
}

/// Verifies one plan. Boxed, as the future of a verification is large.
async fn verify(plan: Plan, catalog: &Arc<Catalog>) -> Verification {
    let (_, _, verification) = Box::pin(verify_plan(plan, catalog)).await;
    verification
}

/// An opened catalog, with the folder of its state and databases.
struct Opened {
    catalog: Arc<Catalog>,
    _folder: TempDir,
}

async fn open(set: &QuerySet, setup: &Setup<'_>) -> Result<Opened, BenchError> {
    let made = tempfile::tempdir().map_err(BenchError::Folder)?;
    let path = match database::make_databases(&set.folder, made.path()).await? {
        true => made.path().join(&set.catalog),
        false => set.folder.join(&set.catalog),
    };
    // Vectors are only needed by searches, and dominate the build time.
    let state = Some(made.path().join("state"));
    let options = CatalogOptions { state, embedder: None, ..(setup.options)().map_err(BenchError::Options)? };
    let (catalog, problems) = Catalog::open(&path, options).await?;
    (setup.notify)(&problems);
    Ok(Opened { catalog: Arc::new(catalog), _folder: made })
}
