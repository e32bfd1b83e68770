//! Reading a workflow from its file.

use prospector_core::Problem;

use crate::{check, definition::Workflow, file::Written};

impl Workflow {
    /// Reads a workflow. `file` is its name in messages; `known` are the tools that there are.
    ///
    /// ```yaml
    /// workflow: refunds
    /// begin: find
    /// role: You find refunds.
    /// products:
    /// - {name: found, tool: execute_sql}              # each: /alias or /list/*, holds: /rows, forgets: [others]
    /// phases:
    /// - name: find
    ///   needs: {}                                     # what must be there before it is entered: {found: 1}
    ///   tools: [search, "execute_*"]                  # names, or patterns with *
    ///   user: true                                    # may speak to the user; false if left out
    ///   instructions: Find the refund that the user asks for.
    ///   context: [{product: found, max_tokens: 300}]  # what is shown when it begins
    ///   advance:
    ///   - {to: end, when: {found: 1, user: 1}}        # note: reason, automatic: true
    ///   on_error: {retry: 2, then: stop}              # then: tell; back or skip, with to: PHASE
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong, each with its place as `FILE:LINE:COLUMN`: an unknown field, a name that is not there or is
    /// there twice, a tool that does not exist, a phase that nothing leads to or that never comes to the end, a product that
    /// is needed and that nothing before makes.
    pub fn read(file: &str, text: &str, known: &[&str]) -> Result<Workflow, Vec<Problem>> {
        let written: Written = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            let reason = error.without_snippet().to_string();
            let reason = reason.split(" at line ").next().unwrap_or(&reason).trim_start_matches("error: ").to_owned();
            vec![Problem::error(format!("{file}:{}:{}", place.0, place.1), reason)]
        })?;
        check::resolve(file, written, known)
    }
}
