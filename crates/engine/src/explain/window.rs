//! Window functions: `rank by total descending within each country`.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, NamedWindowExpr, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowSpec, WindowType,
};

use super::Writer;
use super::aggregate::words;
use super::phrase::{Binding, Phrase, list};
use crate::syntax::{name_of, number_of, values};

impl<'a> Writer<'a> {
    /// Explains a call with OVER; `None` if it has no words.
    pub(super) fn window_function(&mut self, function: &'a Function) -> Option<Phrase> {
        let spec = self.window(function.over.as_ref()?)?;
        if function.filter.is_some() || function.null_treatment.is_some() || !function.within_group.is_empty() {
            return None;
        }
        let FunctionArguments::List(call) = &function.args else { return None };
        if call.duplicate_treatment.is_some() || !call.clauses.is_empty() {
            return None;
        }
        let name = name_of(function);
        let is_ordered = !spec.order_by.is_empty();
        let mut text = match (name.as_str(), call.args.as_slice()) {
            ("row_number", []) => "row number".to_owned(),
            ("rank", []) => "rank".to_owned(),
            ("dense_rank", []) => "dense rank".to_owned(),
            ("percent_rank", []) => "relative rank".to_owned(),
            ("cume_dist", []) => "share of rows up to this one".to_owned(),
            ("count", [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) => "count of rows".to_owned(),
            (name, arguments) => self.value_function(name, &values(arguments)?)?,
        };
        let is_aggregate = words(&name).is_some();
        match (&spec.window_frame, is_aggregate && is_ordered) {
            (None, true) => text = format!("running {text}"),
            (Some(frame), true) if is_running(frame) => text = format!("running {text}"),
            (Some(frame), _) => text = format!("{text}{}", bounds(frame)),
            (None, false) => {}
        }
        if !spec.partition_by.is_empty() {
            let keys: Vec<String> = spec.partition_by.iter().map(|key| self.expr(key).at_least(Binding::Sum)).collect();
            text = format!("{text} within each {}", list(&keys, "and"));
        } else if is_aggregate && !is_ordered {
            text = format!("{text} over all rows");
        }
        if is_ordered {
            let sorts: Vec<String> = spec.order_by.iter().map(|sort| self.sort(sort)).collect();
            text = format!("{text} by {}", list(&sorts, "and"));
        }
        Some(Phrase::new(text, Binding::Sum))
    }

    /// Explains a function of a value of this row, or of another row of the window.
    fn value_function(&mut self, name: &str, arguments: &[&'a Expr]) -> Option<String> {
        Some(match (name, arguments) {
            ("ntile", [buckets]) => format!("bucket of {}", number_of(buckets)?),
            ("lag", [only]) => format!("previous {}", self.argument(only)),
            ("lead", [only]) => format!("next {}", self.argument(only)),
            ("lag", [first, rows]) => format!("{} {} rows before", self.argument(first), number_of(rows)?),
            ("lead", [first, rows]) => format!("{} {} rows later", self.argument(first), number_of(rows)?),
            ("first_value", [only]) => format!("first {}", self.argument(only)),
            ("last_value", [only]) => format!("last {}", self.argument(only)),
            (name, [only]) => format!("{} {}", words(name)?, self.argument(only)),
            _ => return None,
        })
    }

    fn argument(&mut self, value: &'a Expr) -> String {
        self.expr(value).at_least(Binding::Atom)
    }

    /// Returns the window, resolving a named one.
    fn window(&self, over: &'a WindowType) -> Option<&'a WindowSpec> {
        let spec = match over {
            WindowType::WindowSpec(spec) => spec,
            WindowType::NamedWindow(name) => {
                let windows = &self.frame()?.select.named_window;
                match &windows.iter().find(|window| window.0.value.eq_ignore_ascii_case(&name.value))?.1 {
                    NamedWindowExpr::WindowSpec(spec) => spec,
                    NamedWindowExpr::NamedWindow(_) => return None,
                }
            }
        };
        spec.window_name.is_none().then_some(spec)
    }
}

/// Returns whether a frame is all rows up to the current one.
fn is_running(frame: &WindowFrame) -> bool {
    matches!(frame.start_bound, WindowFrameBound::Preceding(None))
        && matches!(frame.end_bound, None | Some(WindowFrameBound::CurrentRow))
}

/// Explains the rows of a frame.
fn bounds(frame: &WindowFrame) -> String {
    let rows = match (frame.units, &frame.start_bound, &frame.end_bound) {
        (
            WindowFrameUnits::Rows,
            WindowFrameBound::Preceding(Some(rows)),
            None | Some(WindowFrameBound::CurrentRow),
        ) => number_of(rows),
        _ => None,
    };
    let is_all = matches!(frame.start_bound, WindowFrameBound::Preceding(None))
        && matches!(frame.end_bound, Some(WindowFrameBound::Following(None)));
    match rows {
        Some(rows) => format!(" of this row and the {rows} before it"),
        None if is_all => String::new(),
        None => {
            let (partition_by, order_by) = (Vec::new(), Vec::new());
            let window_frame = Some(frame.clone());
            let spec = WindowSpec { window_name: None, partition_by, order_by, window_frame };
            format!(" ({})", Phrase::fragment(&spec).text)
        }
    }
}
