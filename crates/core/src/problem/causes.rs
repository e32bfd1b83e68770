//! An error and what it came from, in one line.

/// The message of an error, then those of its causes that it does not repeat.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        #[derive(Debug, thiserror::Error)]
        #[error("{text}")]
        struct Layer {
            text: &'static str,
            source: Option<Box<Layer>>,
        }
        let below = Layer { text: "the connection was refused", source: None };
        let middle = Layer { text: "cannot connect", source: Some(Box::new(below)) };
        assert_eq!(causes(&middle), "cannot connect: the connection was refused");
        let above = Layer { text: "asked: cannot connect", source: Some(Box::new(middle)) };
        assert_eq!(causes(&above), "asked: cannot connect: the connection was refused");
    }
}
