//! Formats an error and its causes in one line.

/// Returns the message of an error, followed by those of its causes that it does not repeat.
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
    fn omits_repeated_causes() {
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
