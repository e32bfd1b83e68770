//! Renders the report as JUnit XML.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use super::report::{Report, Status};

impl Report {
    /// Renders one test case per case; known failures are skipped.
    pub fn junit(&self) -> String {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            text,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
            xml(&format!("planner test {}", self.model)),
            self.results.len(),
            self.count(Status::Failed),
            self.count(Status::KnownFailure),
            self.seconds
        );
        for result in &self.results {
            let milliseconds: u64 = result.runs.iter().map(|run| run.milliseconds).sum();
            let (name, seconds) = (xml(&result.name), milliseconds as f64 / 1_000.0);
            let _ = write!(text, "  <testcase classname=\"planner\" name=\"{name}\" time=\"{seconds:.3}\"");
            let failures: Vec<&str> = result.runs.iter().flat_map(|run| &run.failures).map(String::as_str).collect();
            let _ = match result.status {
                Status::Passed | Status::Fixed => writeln!(text, "/>"),
                Status::Failed => writeln!(
                    text,
                    "><failure message=\"{}\">{}</failure></testcase>",
                    xml(failures.first().copied().unwrap_or_default()),
                    xml(&format!("{}\n{}", result.question, failures.join("\n")))
                ),
                Status::KnownFailure => {
                    writeln!(
                        text,
                        "><skipped message=\"{}\"/></testcase>",
                        xml(result.known.as_deref().unwrap_or_default())
                    )
                }
            };
        }
        text.push_str("</testsuite>\n");
        text
    }
}

/// Escapes a text for XML, dropping control characters.
fn xml(text: &str) -> String {
    let allowed: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    escape(&allowed).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Case, CaseResult, Coverage, RunResult};
    use super::*;

    #[test]
    fn renders_well_formed_xml_with_every_case() {
        let result = |name: &str, failures: &[&str], known: Option<&str>| {
            let case = Case { name: name.into(), known: known.map(str::to_owned), ..Case::default() };
            let failures = failures.iter().map(|failure| (*failure).to_owned()).collect();
            let run = RunResult { failures, calls: 1, tokens: 1, milliseconds: 1_500, verified: Vec::new() };
            CaseResult::new(&case, vec![run])
        };
        let results =
            vec![result("a", &[], None), result("b", &["x < \"y\" & \u{1}z"], None), result("c", &["x"], Some("late"))];
        let report = Report { model: "offline".into(), results, coverage: Coverage::default(), seconds: 2.0 };
        let text = report.junit();
        assert!(text.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{text}");
        let mut reader = quick_xml::Reader::from_str(&text);
        let mut cases = 0;
        loop {
            use quick_xml::events::Event;
            match reader.read_event().unwrap() {
                Event::Start(tag) | Event::Empty(tag) => cases += usize::from(tag.name().as_ref() == "testcase"),
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(cases, 3);
    }
}
