//! Imports declarations from other tools: the dbt semantic manifest, Cube data models, and the Open Semantic Interchange format.
//! Unsupported features are reported as problems with their location and do not affect other declarations.

mod cube;
mod dbt;
mod interchange;
mod reader;

use prospector_core::Problem;
use serde_json::Value;

use crate::{Tables, model::Declarations};
use reader::Reader;

/// Imports a document of another tool, detected by its keys. Its tables are looked up in `database`, or in all sources.
pub fn read_document(
    document: &Value,
    place: &str,
    database: Option<&str>,
    sources: &[Tables<'_>],
) -> (Declarations, Vec<Problem>) {
    let (found, problems) = (Declarations::default(), Vec::new());
    let mut reader = Reader { place, database, sources, document, found, problems };
    let has = |key: &str| document.get(key).is_some_and(Value::is_array);
    if has("semantic_models") || has("metrics") {
        dbt::read(&mut reader);
    } else if has("cubes") || has("views") {
        cube::read(&mut reader);
    } else if has("semantic_model") {
        interchange::read(&mut reader);
    } else {
        let problem = Problem::error(place, "the file declares no metrics");
        let advice = "use a dbt semantic_manifest.json, a Cube file with `cubes`, or an Open \
            Semantic Interchange file with `semantic_model`";
        reader.problems.push(problem.advise(advice));
    }
    (reader.found, reader.problems)
}
