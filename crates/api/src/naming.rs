//! Assigns names to operations: stable, and unique within an API.

use std::collections::{HashMap, HashSet};

use crate::Operation;

/// Gives every operation a unique name. An operation id that is unique is kept; without one, the name is made from
/// method and path, so that it does not depend on the order of the description.
pub(crate) fn assign(operations: &mut [Operation]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for operation in operations.iter_mut() {
        operation.name = operation.name.split_whitespace().collect::<Vec<_>>().join(" ");
        *uses.entry(operation.name.clone()).or_default() += 1;
    }
    let own = |operation: &Operation| !operation.name.is_empty() && uses[&operation.name] == 1;
    let mut taken: HashSet<String> = operations.iter().filter(|o| own(o)).map(|o| o.name.clone()).collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for operation in operations.iter_mut() {
        if own(operation) {
            continue;
        }
        let base = name_from_route(&operation.method, &operation.path);
        let mut name = base.clone();
        let number = numbers.entry(base.clone()).or_insert(1);
        while !taken.insert(name.clone()) {
            *number += 1;
            name = format!("{base}_{number}");
        }
        operation.name = name;
    }
}

/// Makes a name from a route: `get_orders_by_id_lines` for `GET /orders/{id}/lines`.
fn name_from_route(method: &str, path: &str) -> String {
    let mut words = vec![method.to_lowercase()];
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if segment.starts_with('{') {
            words.push("by".to_owned());
        }
        words.extend(segment.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned));
    }
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks operations given as `id METHOD /path`; `-` means without id.
    fn check(operations: &[&str], expected: &[&str]) {
        let mut operations: Vec<Operation> = operations
            .iter()
            .map(|line| {
                let [id, method, path] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
                Operation {
                    name: if id == "-" { String::new() } else { id.to_owned() },
                    method: method.to_owned(),
                    path: path.to_owned(),
                    description: String::new(),
                    tags: Vec::new(),
                    deprecated: false,
                    parameters: Vec::new(),
                    request_body: None,
                    response_schema: None,
                    auth: Vec::new(),
                    changes_nothing: false,
                }
            })
            .collect();
        assign(&mut operations);
        assert_eq!(operations.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn keeps_unique_ids_and_makes_missing_ones() {
        check(&["listOrders GET /orders", "- GET /orders/{id}", "- GET /"], &["listOrders", "get_orders_by_id", "get"]);
        check(&["- GET /a/{x}.json", "- POST /a-b/c_d"], &["get_a_by_x_json", "post_a_b_c_d"]);
    }

    #[test]
    fn shared_ids_are_not_used() {
        check(&["list GET /orders", "list GET /users"], &["get_orders", "get_users"]);
    }

    #[test]
    fn made_names_avoid_ids_and_each_other() {
        check(
            &["- GET /orders", "- GET /orders/", "get_orders POST /x"],
            &["get_orders_2", "get_orders_3", "get_orders"],
        );
    }
}
