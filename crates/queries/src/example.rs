//! Example questions that verified queries answer.

use crate::{
    VerifiedQuery,
    file::fill_in,
    model::{Parameter, ParameterType},
    value::show,
};

impl VerifiedQuery {
    /// Returns its question with a value for each parameter: the default, else the last allowed number or date, or the first allowed
    /// text. `None` if a parameter accepts any value, or the query is stale.
    pub fn example(&self) -> Option<String> {
        let question = fill_in(&self.question, |slot| self.parameter(slot).and_then(example_value))?;
        self.stale().is_none().then_some(question)
    }
}

/// Returns an example value as it would be written in a question.
fn example_value(parameter: &Parameter) -> Option<String> {
    if let Some(default) = &parameter.default {
        return Some(show(default));
    }
    let allowed = match parameter.kind {
        ParameterType::Text | ParameterType::Boolean => parameter.allowed.first(),
        ParameterType::Integer | ParameterType::Number | ParameterType::Date => parameter.allowed.last(),
    };
    allowed.map(|allowed| allowed.words.first().cloned().unwrap_or_else(|| show(&allowed.value)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::file::parse;

    fn check(parameter: &str, expected: Option<&str>) {
        let text =
            format!("---\nquestion: What is the rate in {{it}}?\nparameters:\n  it: {parameter}\n---\nSELECT :it\n");
        let (query, problems) = parse("rate", Path::new("rate.sql"), &text);
        assert_eq!(query.unwrap_or_else(|| panic!("{problems:?}")).example().as_deref(), expected);
    }

    #[test]
    fn fills_example_values() {
        check("{type: integer, allowed: [2024, 2025]}", Some("What is the rate in 2025?"));
        check("{type: integer, allowed: [2024, 2025], default: 2024}", Some("What is the rate in 2024?"));
        check("{type: text, allowed: {EUR: [euro], GBP: [pound]}}", Some("What is the rate in euro?"));
        check("{type: text, column: shop.orders.country}", None);
    }
}
