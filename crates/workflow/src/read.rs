//! Reads a workflow from its file.

use prospector_core::Problem;

use crate::{check, definition::Workflow, file::Written};

impl Workflow {
    /// Reads and validates a workflow. `file` is its name in messages; `known` are the available tools.
    ///
    /// ```yaml
    /// workflow: refunds
    /// begin: find
    /// role: You find refunds.
    /// products:
    /// - {name: found, tool: execute_sql}              # each: /alias or /list/*, holds: /rows, forgets: [others]
    /// phases:
    /// - name: find
    ///   needs: {}                                     # prerequisites of the phase: {found: 1}
    ///   tools: [search, "execute_*"]                  # names, or patterns with *
    ///   user: true                                    # may speak to the user; default false
    ///   instructions: Find the refund that the user asks for.
    ///   context: [{product: found, max_tokens: 300}]  # products shown when the phase starts
    ///   advance:
    ///   - {to: end, when: {found: 1, user: 1}}        # note: reason, automatic: true
    ///   on_error: {retry: 2, then: stop}              # then: tell; back or skip, with to: PHASE
    /// ```
    ///
    /// # Errors
    /// If the workflow is invalid. Returns every problem with its position as `FILE:LINE:COLUMN`: an unknown field, an unknown or duplicate
    /// name, an unknown tool, a phase that is unreachable or never leads to the end, a needed product that no earlier phase makes.
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
