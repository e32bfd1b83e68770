//! The chart of an answer: drawn as text on a terminal, or written to a file.

use std::{io::IsTerminal, path::PathBuf};

use anyhow::Context as _;
use prospector_agent::ask::Answered;
use prospector_discovery::sources::write_file;

use crate::output;

/// Maximum width of a text chart, in columns.
const MAX_COLUMNS: usize = 100;
/// Width of an image, in pixels.
const IMAGE_WIDTH: u32 = 760;

/// The file format of a chart.
enum Form {
    Svg,
    Vega,
}

/// A file for the chart of an answer.
pub(super) struct ChartFile {
    form: Form,
    path: PathBuf,
}

impl ChartFile {
    /// Parses the two values of `--chart`.
    pub(super) fn parse(words: &[String]) -> anyhow::Result<Self> {
        let [form, path] = words else { anyhow::bail!("--chart takes a format and a file") };
        let form = match form.to_lowercase().as_str() {
            "svg" => Form::Svg,
            "vega" => Form::Vega,
            other => anyhow::bail!("unknown chart format `{other}`; use svg or vega"),
        };
        Ok(ChartFile { form, path: PathBuf::from(path) })
    }

    /// Writes the chart, or reports that there is no chart.
    pub(super) fn write(&self, answered: &Answered) -> anyhow::Result<()> {
        let Some((_, chart)) = answered.find_chart() else {
            output::say("no chart was written: a table or a sentence suits this answer better");
            return Ok(());
        };
        let text = match self.form {
            Form::Svg => chart.svg(IMAGE_WIDTH),
            Form::Vega => serde_json::to_string_pretty(&chart.vega())? + "\n",
        };
        write_file(&self.path, &text).with_context(|| format!("cannot write {}", self.path.display()))?;
        output::say(&format!("wrote the chart to {}", self.path.display()));
        Ok(())
    }
}

/// Draws the chart of an answer as text, on a terminal only.
pub(super) fn draw(answered: &Answered) -> Option<String> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let columns = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
    answered.find_chart()?.1.text(columns.min(MAX_COLUMNS))
}
