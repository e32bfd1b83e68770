//! Limits the memory of concurrent requests. A body of a megabyte can need a hundred megabytes while it is parsed, and more while its rows
//! are written or drawn: a request reserves what it may need in advance, and releases it once its response is sent.

use std::{mem::size_of, sync::Arc};

use prospector_core::{Owner, tool::ToolErrorCode};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    error::{Refusal, RefusalCode},
    shares::{Share, Shares},
};

/// Accounting unit, in bytes.
const UNIT: usize = 1024;

/// A value in a list, whose capacity may be twice its length.
const VALUE: usize = 2 * size_of::<Value>();
/// A non-empty list, which has capacity for four values.
const LIST: usize = 4 * size_of::<Value>() + VALUE;
/// A non-empty object, which has capacity for four fields and a hash table.
const OBJECT: usize = 4 * (size_of::<Value>() + size_of::<String>() + size_of::<u64>()) + 128;
/// A further field of an object.
const FIELD: usize = OBJECT / 2;

/// The memory reserved by requests, and what is left.
pub(crate) struct MemoryBudget {
    left: Arc<Semaphore>,
    /// In [`UNIT`]s, per owner.
    of_owners: Shares,
}

/// A reservation, released on drop.
pub(crate) struct Reserved {
    _permit: OwnedSemaphorePermit,
    _share: Share,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        MemoryBudget { left: Arc::new(Semaphore::new((bytes / UNIT).max(1))), of_owners: Shares::default() }
    }

    /// Reserves `bytes` for an owner, who may have at most `most`.
    pub(crate) fn reserve(&self, owner: &Owner, bytes: usize, most: usize) -> Result<Reserved, Refusal> {
        let (units, most) = (bytes.div_ceil(UNIT).max(1), (most / UNIT).max(1));
        let again = "retry in a moment";
        let Some(permits) = u32::try_from(units).ok().filter(|_| units <= most) else {
            let message =
                format!("the request needs about {} MB of memory; the limit is {} MB", bytes >> 20, most >> 10);
            return Err(Refusal::new(ToolErrorCode::TooLarge, message).advise("send a smaller request"));
        };
        let Some(share) = self.of_owners.take_many(owner, units, most) else {
            let message = "your requests have reached the memory limit of one client";
            return Err(Refusal::new(RefusalCode::TooManyRequests, message).advise(again));
        };
        match self.left.clone().try_acquire_many_owned(permits) {
            Ok(permit) => Ok(Reserved { _permit: permit, _share: share }),
            Err(_) => {
                let message = "concurrent requests have reached the memory limit of the server";
                Err(Refusal::new(RefusalCode::Overloaded, message).advise(again))
            }
        }
    }
}

/// Returns an upper bound of the memory that parsing a JSON body takes, from its separators, including those inside strings.
pub(crate) fn estimate_json(body: &[u8]) -> usize {
    let mut bytes = 3 * body.len();
    for byte in body {
        bytes += match byte {
            b',' => VALUE,
            b'[' => LIST,
            b'{' => OBJECT,
            b':' => FIELD,
            _ => 0,
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_and_all_together_have_no_more_than_their_part() {
        let budget = MemoryBudget::new(100 * UNIT);
        let (ann, ben) = (Owner::new("a", "ann"), Owner::new("b", "ben"));
        let reserve = |owner: &Owner, units: usize| budget.reserve(owner, units * UNIT, 60 * UNIT);
        let code = |owner: &Owner, units: usize| reserve(owner, units).err().map(|refusal| refusal.code);
        let first = reserve(&ann, 40);
        assert!(first.is_ok());
        assert_eq!(code(&ann, 21), Some(RefusalCode::TooManyRequests));
        assert_eq!(code(&ben, 61), Some(RefusalCode::Tool(ToolErrorCode::TooLarge)), "it can never be answered");
        let second = reserve(&ben, 60);
        assert!(second.is_ok());
        assert_eq!(code(&ann, 1), Some(RefusalCode::Overloaded));
        drop(second);
        assert_eq!(code(&ann, 20), None);
        drop(first);
        assert_eq!(code(&ann, 60), None, "a refused request reserves nothing");
    }

    /// The memory of a value, without the allocator's overhead.
    fn measure(value: &Value) -> usize {
        size_of::<Value>()
            + match value {
                Value::Null | Value::Bool(_) | Value::Number(_) => 0,
                Value::String(text) => text.capacity(),
                Value::Array(items) => {
                    (items.capacity() - items.len()) * size_of::<Value>() + items.iter().map(measure).sum::<usize>()
                }
                Value::Object(fields) => {
                    let entry = size_of::<String>() + size_of::<u64>();
                    fields.iter().map(|(key, value)| key.capacity() + entry + measure(value)).sum::<usize>()
                }
            }
    }

    #[test]
    fn the_estimate_is_more_than_what_parsing_takes() {
        let repeat = |item: &str| format!("[{}]", vec![item; 10_000].join(","));
        for body in [
            repeat("1"),
            repeat("[]"),
            repeat("[1]"),
            repeat("{}"),
            repeat("{\"\":0}"),
            repeat("{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"e\":4}"),
            repeat("\"\""),
            repeat(&format!("\"{}\"", "x".repeat(100))),
            repeat("[[[[1]]]]"),
        ] {
            let value: Value = serde_json::from_str(&body).unwrap();
            let (taken, estimated) = (measure(&value), estimate_json(body.as_bytes()));
            assert!(taken <= estimated, "{}: {taken} of {estimated}", &body[..40]);
        }
    }
}
