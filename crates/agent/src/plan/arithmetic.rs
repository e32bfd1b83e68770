//! Whether the expressions of a step are ones that are computed: names, numbers, `+ - * /`, parentheses, functions over values and over
//! rows. The engine reads them in earnest, when the step is run; here it is told at its place what it would refuse.

use std::{iter::Peekable, str::CharIndices};

use prospector_connect::query::{Aggregation, Measure};

use super::{
    Failure, Step,
    formula::{is_first, read_name},
};

/// The functions over values, with how many arguments they take at least and at most.
const OVER_VALUES: [(&str, usize, usize); 3] = [("abs", 1, 1), ("round", 1, 2), ("coalesce", 2, 8)];

/// Words of SQL that are no names.
const KEYWORDS: [&str; 7] = ["case", "not", "null", "true", "false", "exists", "interval"];

/// Brackets and calls within each other.
const MAX_DEPTH: usize = 30;

/// What to write in the place of what is not computed.
const ADVICE: &str = "use names, numbers, + - * /, parentheses, abs, round, coalesce and functions over rows; what is counted or summed \
                      under a condition is a step of its own, with the condition in `filter`";

/// Why an expression is not computed, as a clause.
#[derive(Debug, thiserror::Error)]
enum NotComputed {
    #[error("`{0}` is not taken")]
    Part(String),
    #[error("a text is no number")]
    Text,
    #[error("it ends too early")]
    End,
    #[error("it is nested too deeply")]
    Depth,
    #[error("`{0}` is not called so")]
    Call(String),
    #[error("`{0}` cannot stand inside another function over rows: compute it in a step of its own")]
    Inside(String),
    /// It is told by itself.
    #[error("there is no such function")]
    Function,
}

/// The expressions of a step that nothing computes, each at its place. A function that there is not is told elsewhere.
pub(super) fn list_failures(place: &str, step: &Step) -> Vec<Failure> {
    // What an operation is called with is its own matter.
    if !step.operations.is_empty() {
        return Vec::new();
    }
    let computed = step.compute.iter().filter_map(|measure| measure.expression.as_deref());
    let compared = step.conditions().map(|filter| filter.column.as_str());
    let compared = compared.filter(|text| Measure::read_aggregate(text).is_some());
    let all = computed.map(|text| ("compute", text)).chain(compared.map(|text| ("filter", text)));
    let explain = |(field, text): (&str, &str)| match Reader::read(text) {
        Ok(()) | Err(NotComputed::Function) => None,
        Err(reason) => Some(Failure {
            place: format!("{place}.{field}"),
            name: text.to_owned(),
            reason: format!("this is no calculation: {reason}; {ADVICE}"),
            nearest: Vec::new(),
        }),
    };
    all.filter_map(explain).collect()
}

struct Reader<'t> {
    rest: Peekable<CharIndices<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn read(text: &'t str) -> Result<(), NotComputed> {
        let mut reader = Reader { rest: text.char_indices().peekable(), depth: 0 };
        reader.operands(false)?;
        if reader.peek().is_some() { Err(reader.refuse()) } else { Ok(()) }
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        self.rest.peek().map(|(_, c)| *c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.rest.next();
        }
        is_there
    }

    /// What is next is not taken.
    fn refuse(&mut self) -> NotComputed {
        match self.peek() {
            None => NotComputed::End,
            Some('\'') => NotComputed::Text,
            Some(c) if is_first(c) => NotComputed::Part(read_name(&mut self.rest)),
            Some(c) => NotComputed::Part(c.to_string()),
        }
    }

    /// Operands with signs between them.
    fn operands(&mut self, in_aggregate: bool) -> Result<(), NotComputed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(NotComputed::Depth);
        }
        loop {
            self.operand(in_aggregate)?;
            if !['+', '-', '*', '/'].into_iter().any(|sign| self.take(sign)) {
                break;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn operand(&mut self, in_aggregate: bool) -> Result<(), NotComputed> {
        while self.take('-') {}
        match self.peek() {
            Some('(') => {
                self.rest.next();
                self.operands(in_aggregate)?;
                if self.take(')') { Ok(()) } else { Err(self.refuse()) }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                while self.rest.next_if(|(_, c)| c.is_ascii_alphanumeric() || *c == '.').is_some() {}
                Ok(())
            }
            Some(c) if is_first(c) => {
                let is_bare = c.is_alphabetic();
                let name = read_name(&mut self.rest);
                if self.take('(') {
                    return self.call(&name, in_aggregate);
                }
                let is_keyword = is_bare && KEYWORDS.contains(&name.to_lowercase().as_str());
                if is_keyword { Err(NotComputed::Part(name)) } else { Ok(()) }
            }
            _ => Err(self.refuse()),
        }
    }

    /// What stands in the brackets of a call.
    fn call(&mut self, name: &str, in_aggregate: bool) -> Result<(), NotComputed> {
        let aggregation = Aggregation::find(name);
        let known = OVER_VALUES.iter().find(|(known, ..)| name.eq_ignore_ascii_case(known));
        let (least, most) = match (aggregation, known) {
            (Some(_), _) if in_aggregate => return Err(NotComputed::Inside(name.to_owned())),
            (Some(_), _) => (1, 1),
            (None, Some((_, least, most))) => (*least, *most),
            (None, None) => return Err(NotComputed::Function),
        };
        if aggregation == Some(Aggregation::Count) {
            let is_all = self.take('*');
            if self.take(')') {
                return Ok(());
            }
            if is_all {
                return Err(self.refuse());
            }
            self.take_distinct();
        }
        let mut count = 1;
        self.operands(in_aggregate || aggregation.is_some())?;
        while self.take(',') {
            self.operands(in_aggregate || aggregation.is_some())?;
            count += 1;
        }
        if !self.take(')') {
            return Err(self.refuse());
        }
        if (least..=most).contains(&count) { Ok(()) } else { Err(NotComputed::Call(name.to_owned())) }
    }

    fn take_distinct(&mut self) {
        let mut ahead = self.rest.clone();
        let is_word = self.peek().is_some_and(is_first);
        while ahead.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        if is_word && read_name(&mut ahead).eq_ignore_ascii_case("distinct") {
            self.rest = ahead;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn explain(text: &str) -> Option<String> {
        Reader::read(text).err().map(|reason| reason.to_string())
    }

    #[test]
    fn what_the_engine_computes_is_taken() {
        for text in [
            "revenue / orders",
            "-(a.b.c - a.b.d) * 1.5e3 / .5",
            "100 * SUM(a.b.c - a.b.\"d e\") / count (distinct `a`.b)",
            "round(mean(a.b.c) / count(*), 2) + count() - count( DISTINCT(a.b) )",
            "coalesce(step_1_results.n, 0) / abs(step_2_results.distinct)",
            "count(distinctive) + max(\"case\")",
        ] {
            assert_eq!(explain(text), None, "{text}");
        }
    }

    #[test]
    fn what_it_does_not_is_told() {
        for (text, part) in [
            ("sum(case when a.b.c > 5 then 1 else 0 end)", "`case` is not taken"),
            ("a.b.c > 5", "`>` is not taken"),
            ("sum(a.b.c) filter (where a.b.d = 1)", "`filter` is not taken"),
            ("count(*) over ()", "`over` is not taken"),
            ("'2025-12-31' - a.b.c", "a text is no number"),
            ("sum(avg(a.b.c))", "`avg` cannot stand inside another function"),
            ("sum(distinct a.b.c)", "`a.b.c` is not taken"),
            ("sum()", "`)` is not taken"),
            ("sum(a, b)", "`sum` is not called so"),
            ("round(a, 1, 2)", "`round` is not called so"),
            ("a / ", "it ends too early"),
            ("(a + b", "it ends too early"),
            ("a % 2", "`%` is not taken"),
        ] {
            assert!(explain(text).is_some_and(|reason| reason.contains(part)), "{text}: {:?}", explain(text));
        }
        let deep = format!("{}a{}", "(".repeat(500), ")".repeat(500));
        assert_eq!(explain(&deep).as_deref(), Some("it is nested too deeply"));
    }

    #[test]
    fn it_is_told_at_its_place() {
        let step = |compute: &str, operations: &[&str]| {
            let step = json!({"goal": "g", "compute": [compute], "operations": operations});
            list_failures("s", &serde_json::from_value(step).unwrap())
        };
        let failures = step("sum(case when a.b.c = 'x' then 1 end) as n", &[]);
        let told = (failures[0].place.as_str(), failures[0].name.as_str());
        assert_eq!((told, failures.len()), (("s.compute", "sum(case when a.b.c = 'x' then 1 end)"), 1));
        assert!(failures[0].reason.contains("a step of its own, with the condition in `filter`"), "{failures:?}");
        // A function that there is not is told with those that there are.
        assert!(step("sum(julianday(a.b.c)) as n", &[]).is_empty());
        assert!(step("sum(case when a.b.c = 'x' then 1 end) as n", &["api.list"]).is_empty());
    }
}
