//! Random queries in the SQL of one engine: most are valid, and some reference hidden names.
//!
//! Their parts are defined in `corpus/differences/grammar`.

use std::collections::HashMap;

use super::corpus::unescape;
use super::random::Random;

/// The parts of the queries of one engine: lists by name, those of all engines first.
pub(crate) struct Grammar(HashMap<&'static str, Vec<String>>);

impl Grammar {
    pub(crate) fn postgres() -> Self {
        Self::read(include_str!("../../corpus/differences/grammar/postgres.txt"))
    }

    pub(crate) fn mysql() -> Self {
        Self::read(include_str!("../../corpus/differences/grammar/mysql.txt"))
    }

    pub(crate) fn sqlite() -> Self {
        Self::read(include_str!("../../corpus/differences/grammar/sqlite.txt"))
    }

    fn read(own: &'static str) -> Self {
        let mut lists = HashMap::<&str, Vec<String>>::new();
        for text in [include_str!("../../corpus/differences/grammar/common.txt"), own] {
            let mut name = "";
            for line in text.lines().skip(1) {
                match line.strip_prefix("## ") {
                    Some(next) => name = next,
                    None => lists.entry(name).or_default().push(unescape(line)),
                }
            }
        }
        Grammar(lists)
    }

    /// Returns an entry of a list.
    fn of(&self, list: &str, random: &mut Random) -> &str {
        let all = &self.0[list];
        &all[random.below(all.len())]
    }

    /// Generates a query.
    pub(crate) fn statement(&self, random: &mut Random) -> String {
        if random.is_one_in(3) {
            return self.scopes(random);
        }
        let mut text = String::new();
        if random.is_one_in(4) {
            let name = random.pick(&["c", "people", "secret", "x", "C", "\"c\""]);
            let body = self.select(random, 1);
            text += &format!("WITH {name} AS ({body}) ");
        }
        text += &self.select(random, 3);
        while random.is_one_in(5) {
            let word = random.pick(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]);
            text += &format!(" {word} {}", self.select(random, 1));
        }
        if random.is_one_in(3) {
            text += &format!(" ORDER BY {}", self.expression(random, 1));
            text += random.pick(&["", " DESC", " NULLS LAST", ", 1"]);
        }
        if random.is_one_in(4) {
            text += random.pick(&[" LIMIT 2", " LIMIT 1 OFFSET 1", " LIMIT 0"]);
        }
        text
    }

    /// Generates a query in which a few names are reused in many scopes.
    fn scopes(&self, random: &mut Random) -> String {
        let mut text = String::new();
        if random.is_one_in(3) {
            let word = random.pick(&["WITH ", "WITH RECURSIVE "]);
            let form = random.pick(&["@R AS (SELECT # AS @C)", "@R (@C) AS (SELECT @R.@C FROM people @R)"]);
            text += &format!("{word}{} ", self.fill(form, random, 1));
        }
        let items: Vec<String> = (0..=random.below(3))
            .map(|_| match random.is_one_in(3) {
                true => self.fill(&format!("{} AS @C", self.of("scoped", random)), random, 1),
                false => self.filled("scoped", random, 1),
            })
            .collect();
        let from: Vec<String> = (0..=random.below(3)).map(|_| self.filled("from", random, 1)).collect();
        text += &format!("SELECT {} FROM {}", items.join(", "), from.join(", "));
        for (word, times) in [(" WHERE ", 3), (" GROUP BY ", 8), (" ORDER BY ", 3)] {
            if random.is_one_in(times) {
                text += &format!("{word}{}", self.filled("scoped", random, 1));
            }
        }
        text
    }

    fn select(&self, random: &mut Random, depth: usize) -> String {
        let distinct = random.pick(&["", "", "", "DISTINCT ", "ALL "]);
        let mut items = Vec::new();
        for _ in 0..=random.below(3) {
            let item = match random.below(8) {
                0 => "*".to_owned(),
                1 => format!("{} AS {}", self.expression(random, depth), random.pick(&["a", "\"A b\"", "id"])),
                _ => self.expression(random, depth),
            };
            items.push(item);
        }
        let mut text = format!("SELECT {distinct}{}", items.join(", "));
        if random.is_one_in(8) {
            return text;
        }
        text += &format!(" FROM {}", self.filled("tables", random, depth));
        if random.is_one_in(2) {
            text += &format!(" {}", self.filled("tails", random, depth));
        }
        text
    }

    fn expression(&self, random: &mut Random, depth: usize) -> String {
        if random.is_one_in(60) {
            return self.of("forbidden", random).to_owned();
        }
        if depth == 0 {
            let list = random.pick(&["names", "literals"]);
            return self.of(list, random).to_owned();
        }
        match random.below(5) {
            0 => self.expression(random, 0),
            1 => format!("{} {}", self.of("unary", random), self.expression(random, depth - 1)),
            2 | 3 => {
                let operator = self.of("binary", random);
                let (left, right) = (self.expression(random, depth - 1), self.expression(random, depth - 1));
                // Adjacent operator characters may form one operator.
                let blank = if random.is_one_in(4) && !operator.starts_with(char::is_alphabetic) { "" } else { " " };
                format!("{left}{blank}{operator}{blank}{right}")
            }
            _ => self.filled("expressions", random, depth - 1),
        }
    }

    /// Returns one of the forms, with its placeholders filled in.
    fn filled(&self, list: &str, random: &mut Random, depth: usize) -> String {
        self.fill(self.of(list, random), random, depth)
    }

    fn fill(&self, form: &str, random: &mut Random, depth: usize) -> String {
        let form = form.replace("@TYPE", self.of("types", random));
        let form = self.name("@R", "relations", form, random);
        let form = self.name("@C", "columns", form, random);
        let form = form.replace("@COLLATION", random.pick(&["\"C\"", "nocase", "utf8mb4_bin"]));
        let mut parts = form.split('#');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text += &self.expression(random, depth.saturating_sub(1).min(2));
            text += part;
        }
        text
    }

    /// Fills each placeholder of the form with a name of the list.
    fn name(&self, mark: &str, list: &str, form: String, random: &mut Random) -> String {
        let mut parts = form.split(mark);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            text += self.of(list, random);
            text += part;
        }
        text
    }

    /// Returns a fragment that a mutation inserts into a statement.
    pub(crate) fn piece(&self, random: &mut Random) -> &str {
        let list = random.pick(&["pieces", "pieces", "forbidden"]);
        self.of(list, random)
    }
}
