//! Columns of what earlier steps leave, as the `columns` of a step name them: `step_1_results.title`.

use prospector_connect::query::Group;
use prospector_core::name::nearest;

use super::{Failure, Step};

/// The number of a step's nearest columns that are named.
const MAX_NEAREST: usize = 3;

/// The earlier step whose output a name is a column of, by its place, and that column.
fn find_output<'n>(steps: &[Step], at: usize, name: &'n str) -> Option<(usize, &'n str)> {
    let (output, column) = name.split_once('.')?;
    // The rows of a step are there under their usual name too.
    let leaves = |(place, step): (usize, &Step)| {
        let is_named = step.outputs.iter().any(|own| own == output) || output == format!("step_{}_results", place + 1);
        is_named.then_some(place)
    };
    steps.iter().take(at).enumerate().find_map(leaves).map(|place| (place, column))
}

/// Whether a name is a column of what an earlier step leaves, and none of the catalog.
pub(super) fn is_of_output(steps: &[Step], at: usize, name: &str) -> bool {
    find_output(steps, at, name).is_some()
}

/// The columns of earlier steps that a step names in `columns`, and that it cannot read: it takes no input, or the earlier step is
/// known to leave others.
pub(super) fn list_failures(place: &str, steps: &[Step], at: usize) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut fail = |name: &String, reason: String, nearest: Vec<String>| {
        failures.push(Failure { place: format!("{place}.columns"), name: name.clone(), reason, nearest });
    };
    for name in &steps[at].columns {
        let Some((from, column)) = find_output(steps, at, name) else { continue };
        if steps[at].inputs.is_empty() {
            fail(name, format!("the step takes no input: name what step {} leaves in `inputs`", from + 1), Vec::new());
            continue;
        }
        let Some(left) = list_left(&steps[from]) else { continue };
        let last = column.rsplit('.').next().unwrap_or(column).to_lowercase();
        // Of two columns of one name each is called by its table too.
        let is_same = |own: &String| *own == last || last.ends_with(&format!("_{own}"));
        if !left.iter().any(is_same) {
            let reason = format!("step {} leaves no such column: it leaves {}", from + 1, left.join(", "));
            fail(name, reason, nearest(&last, left.iter().map(String::as_str), MAX_NEAREST));
        }
    }
    failures
}

/// The columns of what a step leaves, in small letters; none where only its run tells them.
fn list_left(step: &Step) -> Option<Vec<String>> {
    let is_unknown =
        step.query.is_some() || step.tables.is_empty() || !step.operations.is_empty() || !step.metrics.is_empty();
    if is_unknown {
        return None;
    }
    let measures: Vec<String> = step.compute.iter().map(|measure| measure.name.clone()).collect::<Option<_>>()?;
    let bare = |column: &str| column.rsplit('.').next().unwrap_or(column).to_owned();
    let names_of = |group: &Group| {
        let of_part = group.part.map(|part| format!("{}_{}", bare(&group.column), part.as_str()));
        [group.name.clone(), of_part, Some(bare(&group.column))]
    };
    let groups = step.group_by.iter().flat_map(names_of).flatten();
    let listed = step.columns.iter().map(|column| bare(column));
    let left: Vec<String> = groups.chain(measures).chain(listed).map(|name| name.to_lowercase()).collect();
    // Rows of which no columns are named have all of them.
    (!left.is_empty()).then_some(left)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(first: &Value, columns: &[&str], inputs: &[&str], expected: &[&str]) {
        let second = json!({"goal": "g", "columns": columns, "inputs": inputs});
        let steps: Vec<Step> = serde_json::from_value(json!([first, second])).unwrap();
        let told = list_failures("plan.steps[1]", &steps, 1);
        let told: Vec<String> = told.iter().map(|failure| format!("{}: {}", failure.name, failure.reason)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn columns_of_inputs_are_those_that_their_step_leaves() {
        let counted = json!({"goal": "g", "tables": ["shop.albums"], "compute": ["count() as reviews"],
            "group_by": ["shop.albums.title", "month(shop.albums.day)"], "outputs": ["found"]});
        let columns =
            ["found.title", "step_1_results.REVIEWS", "found.day_month", "found.albums_title", "shop.albums.id"];
        check(&counted, &columns, &["found"], &[]);
        let unknown = "found.price: step 1 leaves no such column: it leaves title, day_month, day, reviews";
        check(&counted, &["found.price"], &["found"], &[unknown]);
        let no_input = "found.title: the step takes no input: name what step 1 leaves in `inputs`";
        check(&counted, &["found.title"], &[], &[no_input]);
        // What only a run tells is not guessed at.
        let rows = json!({"goal": "g", "tables": ["shop.albums"], "filter": ["shop.albums.id > 3"]});
        check(&rows, &["step_1_results.price"], &["step_1_results"], &[]);
        check(&json!({"goal": "g", "query": "best"}), &["step_1_results.price"], &["step_1_results"], &[]);
    }
}
