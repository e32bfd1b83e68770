//! What other tools declare, as declarations of a catalog: the semantic manifest of dbt, data models of Cube, and the Open Semantic
//! Interchange format. What has no counterpart is a problem with its place, and costs nothing else.

mod cube;
mod dbt;
mod interchange;
mod reader;

use prospector_core::Problem;
use serde_json::Value;

use crate::{Tables, model::Declarations};
use reader::Reader;

/// Reads a document of another tool, told by its keys. Its tables are looked for in `database`, or in all of the sources.
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
        let problem = Problem::error(place, "nothing in it declares metrics");
        let advice = "name the semantic_manifest.json of dbt, a file with `cubes` of Cube, or one with `semantic_model` of the \
            Open Semantic Interchange";
        reader.problems.push(problem.advise(advice));
    }
    (reader.found, reader.problems)
}
