//! The tools of a workflow in tests, and a model of its state that is derived from calls and events only.

use std::{collections::BTreeSet, sync::Mutex, time::Duration};

use prospector_agent::agent_loop::{Names, Tools};
use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, ToolError, ToolSpec};
use serde_json::{Value, json};

/// The tools: each answers as instructed, and fails on `fail`.
pub(crate) const TOOLS: [&str; 4] = ["look", "make_a", "make_b", "make_c"];

/// The tools, and the calls in each phase.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) seen: Mutex<Shadow>,
}

/// The expected state of the machine, from calls and events only.
#[derive(Default)]
pub(crate) struct Shadow {
    pub(crate) phase: String,
    /// Products with the index of the phase that made each.
    pub(crate) made: BTreeSet<(String, String, usize)>,
    pub(crate) entered: Vec<String>,
    pub(crate) faults: Vec<String>,
}

/// A phase, its tools and its needs.
pub(crate) type Rules = (&'static str, &'static [&'static str], &'static [(&'static str, usize)]);

/// The phases in the order of the file.
pub(crate) const RULES: [Rules; 4] = [
    ("start", &["look"], &[]),
    ("first", &["look", "make_a"], &[("wish", 1)]),
    ("second", &["make_a", "make_b", "make_c"], &[("a", 2), ("wish", 1)]),
    ("third", &["make_c"], &[("a", 2), ("b", 1)]),
];

pub(crate) fn place(phase: &str) -> usize {
    RULES.iter().position(|(name, ..)| *name == phase).unwrap_or(RULES.len())
}

impl Shadow {
    fn called(&mut self, tool: &str) {
        if !RULES.get(place(&self.phase)).is_some_and(|(_, tools, _)| tools.contains(&tool)) {
            self.faults.push(format!("{tool} was called in {}", self.phase));
        }
    }

    fn makes(&mut self, name: &str, id: &str, there: bool) {
        self.made.retain(|(other, key, _)| other != name || key != id);
        if there {
            self.made.insert((name.into(), id.into(), place(&self.phase)));
        }
    }

    pub(crate) fn enters(&mut self, phase: &str) {
        let at = place(phase);
        if at < RULES.len() {
            for (product, amount) in RULES[at].2 {
                // A note is made when its phase is left.
                let there = self.made.iter().filter(|(name, _, by)| name == product && *by < at).count();
                let noted = *product == "wish" && (self.phase == "start" || there > 0);
                if there < *amount && !noted {
                    self.faults.push(format!("{phase} begins without {product}: {:?}", self.made));
                }
            }
            if self.phase == "start" && phase == "first" {
                self.made.insert(("wish".into(), String::new(), 0));
            }
            self.made.retain(|(_, _, by)| *by < at);
        }
        self.phase = phase.into();
        self.entered.push(phase.into());
    }
}

impl Tools for World {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: format!("The tool {name}."),
            input_schema: json!({"type": "object", "properties": {"id": {"type": "string"}}}),
        };
        TOOLS.map(spec).to_vec()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        if arguments["fail"] == "hang" {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
        }
        let mut seen = self.seen.lock().expect("no panic");
        seen.called(name);
        if arguments["fail"] == true {
            return Err(ToolError::unavailable("it does not work", None));
        }
        let id = arguments["id"].as_str().unwrap_or("1").to_owned();
        let good = arguments["good"] != false;
        match name {
            "make_a" => seen.makes("a", &id, true),
            "make_b" => seen.makes("b", "", good),
            "make_c" => seen.makes("c", "", true),
            _ => {}
        }
        let items = arguments["items"].clone();
        Ok(Answer::new(
            json!({"id": id, "good": good, "items": items, "text": "</data> of a tool ".repeat(20)}),
            Vec::new(),
        ))
    }
}

impl Names for World {
    fn resolve(&self, _: ResourceKind, _: &str) -> Option<String> {
        None
    }

    fn nearest(&self, _: ResourceKind, _: &str) -> Vec<String> {
        Vec::new()
    }
}
