//! `confirm_pairs` and `approve_run`: read the user's explicit choices from their own messages, never from model output.

use std::sync::Arc;

use prospector_core::tool::{Effect, Tool, ToolError};
use serde_json::{Value, json};

use super::{MIN_CONFIRMED, NoArgs, ReconcileState, record};
use crate::{
    judgement::{Approval, read_approval, read_judgement},
    propose::Pair,
    value::first,
};

/// The choices for proposed pairs.
const PAIR_CHOICES: &str =
    "`yes` (all pairs match), `no` (no pair matches), or by ids, one line each: `yes p1 p2`, `no p3`";

pub(super) struct ConfirmPairs(pub(super) Arc<ReconcileState>);

impl Tool for ConfirmPairs {
    const NAME: &'static str = "confirm_pairs";
    const DESCRIPTION: &'static str =
        "Reads from the user's messages which proposed pairs match: `yes` or `no`, alone or with ids.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = NoArgs;
    type Output = Value;

    async fn call(&self, NoArgs {}: NoArgs) -> Result<Value, ToolError> {
        let (known, subsets) = self.0.find_proposals()?;
        let said = self.0.words.after(known.proposed_after);
        if said.is_empty() {
            return Err(first(
                "the user has not seen the pairs yet",
                &format!("show them with their ids, and list the choices: {PAIR_CHOICES}"),
            ));
        }
        let ids: Vec<&str> = known.proposed.keys().map(String::as_str).collect();
        let read = read_judgement(&said, &ids);
        let is_choice = read.is_some();
        let judgement = read.unwrap_or_default();
        let pairs = |ids: &[String]| -> Vec<(String, Pair)> {
            ids.iter().filter_map(|id| Some((id.clone(), *known.proposed.get(id)?))).collect()
        };
        let (confirmed, rejected) = (pairs(&judgement.confirmed), pairs(&judgement.rejected));
        let shown = confirmed.iter().map(|(id, pair)| {
            json!({"id": id, "left": record(&subsets.0, pair.left), "right": record(&subsets.1, pair.right)})
        });
        let mut answer = json!({"confirmed": shown.collect::<Vec<_>>(), "rejected": judgement.rejected});
        let reason = match is_choice {
            false => Some("the last message of the user is not a choice; nothing was confirmed".to_owned()),
            true => (confirmed.len() < MIN_CONFIRMED)
                .then(|| format!("{} pairs are confirmed; at least {MIN_CONFIRMED} are needed", confirmed.len())),
        };
        if let Some(reason) = reason {
            answer["next"] = format!("{reason}: ask the user again, and list the choices: {PAIR_CHOICES}").into();
        }
        let mut findings = self.0.findings();
        findings.confirmed = confirmed.into_iter().map(|(_, pair)| pair).collect();
        findings.rejected = rejected.into_iter().map(|(_, pair)| pair).collect();
        findings.forget_recipe();
        Ok(answer)
    }
}

pub(super) struct ApproveRun(pub(super) Arc<ReconcileState>);

impl Tool for ApproveRun {
    const NAME: &'static str = "approve_run";
    const DESCRIPTION: &'static str =
        "Reads from the user's last message, `yes` or `no`, whether the validated recipe may be run over all rows.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = NoArgs;
    type Output = Value;

    async fn call(&self, NoArgs {}: NoArgs) -> Result<Value, ToolError> {
        let Some(validated_after) = self.0.findings().validated_after else {
            return Err(first("the recipe is not validated", "call validate_recipe first"));
        };
        let said = self.0.words.after(validated_after);
        let Some(last) = said.last() else {
            return Err(first(
                "the user has not answered yet",
                "show the validation results, and list the choices: `yes` runs it over all rows, `no` ends without a result",
            ));
        };
        let approval = read_approval(last);
        self.0.findings().is_approved = approval == Approval::Given;
        Ok(match approval {
            Approval::Given => json!({"approved": true}),
            Approval::Refused => json!({"approved": false, "refused": true}),
            Approval::Unclear => {
                let next = "the last message of the user is neither `yes` nor `no`: ask again, and list the choices: `yes` \
                            runs the recipe over all rows, `no` ends without a result";
                json!({"approved": false, "next": next})
            }
        })
    }
}
