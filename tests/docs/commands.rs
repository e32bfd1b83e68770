//! The commands of `planner` and their flags, as its own help lists them.

use std::collections::BTreeMap;

use crate::support::{Estate, Ran};

/// Every command with its help; the program has an empty name, and subcommands have several words, as `bench tokens`.
pub(crate) struct Commands {
    pub(crate) help: BTreeMap<String, String>,
    /// The names in the order of the help.
    pub(crate) names: Vec<String>,
}

impl Commands {
    /// Asks the program, and each of its commands, for help.
    pub(crate) fn of(estate: &Estate) -> Commands {
        let mut commands = Commands { help: BTreeMap::new(), names: Vec::new() };
        commands.add(estate, "");
        commands
    }

    fn add(&mut self, estate: &Estate, name: &str) {
        let flag = if name.is_empty() { "--help" } else { "-h" };
        let ran = Ran::of(estate.bare().env("COLUMNS", "100").args(name.split_whitespace()).arg(flag));
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        self.names.push(name.to_owned());
        let listed =
            ran.out.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let inner: Vec<String> = listed
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|inner| *inner != "help")
            .map(|inner| format!("{name} {inner}").trim().to_owned())
            .collect();
        let out: Vec<&str> = ran.out.lines().map(str::trim_end).collect();
        self.help.insert(name.to_owned(), out.join("\n"));
        for inner in inner {
            self.add(estate, &inner);
        }
    }

    /// Returns the unknown command or flag of a call, which is given without the name of the program.
    pub(crate) fn check(&self, call: &str) -> Option<String> {
        let words: Vec<&str> = call.split_whitespace().collect();
        let mut name = String::new();
        for word in &words {
            let longer = format!("{name} {word}").trim().to_owned();
            if self.help.contains_key(&longer) {
                name = longer;
            }
        }
        let first = words.iter().find(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))?;
        let begins_with_flag = words.first().is_some_and(|word| word.starts_with('-'));
        if name.is_empty() && !begins_with_flag {
            return Some(format!("unknown command `{first}`"));
        }
        let help = format!("{}\n{}", self.help[&name], self.help[""]);
        let mut flags = words.iter().filter(|word| word.starts_with("--") && word.len() > 2);
        let unknown = flags.find(|flag| {
            let flag = flag.split('=').next().unwrap_or(flag).trim_end_matches([',', ')', ';']);
            flag != "--help" && !help.split([' ', '\n', ',']).any(|word| word == flag)
        });
        unknown.map(|flag| format!("`planner {name}` has no flag {flag}"))
    }
}
