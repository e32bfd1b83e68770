//! A panic over foreign input, as an error.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Does work over one piece of foreign input, such as a file that a parser of others reads; a panic becomes the reason why
/// it failed, so that it costs that piece alone.
///
/// # Errors
/// What the panic said. The work must leave nothing half done that others see.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| format!("the reader failed: {}", message(panic.as_ref())))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_reason() {
        assert_eq!(catch_panic(|| 2), Ok(2));
        assert_eq!(catch_panic::<()>(|| panic!("at {}", 7)), Err("the reader failed: at 7".to_owned()));
        assert_eq!(catch_panic::<()>(|| panic!("at once")), Err("the reader failed: at once".to_owned()));
        let silent = catch_panic::<()>(|| std::panic::panic_any(7));
        assert_eq!(silent, Err("the reader failed: it gave no reason".to_owned()));
    }
}
