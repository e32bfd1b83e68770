//! Converts panics on foreign input to errors.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs work on one piece of foreign input, such as a file for a third-party parser. A panic becomes an error and affects this piece
/// only.
///
/// # Errors
/// The panic message. The work must not leave shared state inconsistent.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| format!("the parser panicked: {}", panic_message(panic.as_ref())))
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no panic message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_panic_message() {
        assert_eq!(catch_panic(|| 2), Ok(2));
        assert_eq!(catch_panic::<()>(|| panic!("at {}", 7)), Err("the parser panicked: at 7".to_owned()));
        assert_eq!(catch_panic::<()>(|| panic!("at once")), Err("the parser panicked: at once".to_owned()));
        let silent = catch_panic::<()>(|| std::panic::panic_any(7));
        assert_eq!(silent, Err("the parser panicked: no panic message".to_owned()));
    }
}
