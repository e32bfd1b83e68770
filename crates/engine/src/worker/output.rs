//! The output of a worker to its parent process.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::frame::{Frame, GREETING};

/// The pipe to the parent process.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Box<dyn Write + Send>>>);

impl Output {
    pub(super) fn new(output: impl Write + Send + 'static) -> Self {
        Output(Arc::new(Mutex::new(Box::new(output))))
    }

    pub(super) fn send(&self, frame: &Frame) -> io::Result<()> {
        frame.write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn greet(&self) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(GREETING)?;
        output.flush()
    }
}
