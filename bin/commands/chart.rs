//! The chart of an answer: drawn in text on a terminal, or written into a file.

use std::{io::IsTerminal, path::PathBuf};

use anyhow::Context as _;
use prospector_agent::ask::Answered;

use crate::output;

/// A chart in text is no wider.
const MAX_COLUMNS: usize = 100;
/// An image is so wide, in pixels.
const IMAGE_WIDTH: u32 = 760;

/// How a chart is written.
enum Form {
    Svg,
    Vega,
}

/// A file that the chart of an answer is written into.
pub(super) struct ChartFile {
    form: Form,
    path: PathBuf,
}

impl ChartFile {
    /// The two words of `--chart`.
    pub(super) fn parse(words: &[String]) -> anyhow::Result<Self> {
        let [form, path] = words else { anyhow::bail!("--chart takes a form and a file") };
        let form = match form.to_lowercase().as_str() {
            "svg" => Form::Svg,
            "vega" => Form::Vega,
            other => anyhow::bail!("a chart is written as svg or vega, not as {other}"),
        };
        Ok(ChartFile { form, path: PathBuf::from(path) })
    }

    /// Writes it, or says that there is none.
    pub(super) fn write(&self, answered: &Answered) -> anyhow::Result<()> {
        let Some((_, chart)) = answered.find_chart() else {
            output::say("no chart: a table or a sentence shows this answer better");
            return Ok(());
        };
        let text = match self.form {
            Form::Svg => chart.svg(IMAGE_WIDTH),
            Form::Vega => serde_json::to_string_pretty(&chart.vega())? + "\n",
        };
        std::fs::write(&self.path, text).with_context(|| format!("cannot write {}", self.path.display()))?;
        output::say(&format!("the chart is in {}", self.path.display()));
        Ok(())
    }
}

/// The chart of an answer in text, where somebody looks at it.
pub(super) fn draw(answered: &Answered) -> Option<String> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    answered.find_chart()?.1.text(columns.min(MAX_COLUMNS))
}
