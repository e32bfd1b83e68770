//! `confirm_pairs` and `approve_run`: what only the user can say, read from their own words and never from a model's.

use std::sync::Arc;

use prospector_core::tool::{Effect, Tool, ToolError};
use serde_json::{Value, json};

use super::{MIN_CONFIRMED, NoArgs, ReconcileState, record};
use crate::{
    judgement::{Approval, read_approval, read_judgement},
    propose::Pair,
    value::first,
};

pub(super) struct ConfirmPairs(pub(super) Arc<ReconcileState>);

impl Tool for ConfirmPairs {
    const NAME: &'static str = "confirm_pairs";
    const DESCRIPTION: &'static str =
        "Reads from the user's own words which of the proposed pairs are right: their ids, `all`, `not p3`.";
    const EFFECT: Effect = Effect::Writes { repeatable: true };
    type Args = NoArgs;
    type Output = Value;

    async fn call(&self, NoArgs {}: NoArgs) -> Result<Value, ToolError> {
        let (known, subsets) = self.0.find_proposals()?;
        let said = self.0.words.after(known.proposed_after);
        if said.is_empty() {
            return Err(first(
                "the user has not seen the pairs yet",
                "show them with their ids, and ask which are right",
            ));
        }
        let ids: Vec<&str> = known.proposed.keys().map(String::as_str).collect();
        let judgement = read_judgement(&said, &ids);
        let pairs = |ids: &[String]| -> Vec<(String, Pair)> {
            ids.iter().filter_map(|id| Some((id.clone(), *known.proposed.get(id)?))).collect()
        };
        let (confirmed, rejected) = (pairs(&judgement.confirmed), pairs(&judgement.rejected));
        let shown = confirmed.iter().map(|(id, pair)| {
            json!({"id": id, "left": record(&subsets.0, pair.left), "right": record(&subsets.1, pair.right)})
        });
        let mut answer = json!({"confirmed": shown.collect::<Vec<_>>(), "rejected": judgement.rejected});
        if confirmed.len() < MIN_CONFIRMED {
            let ask = "ask the user to name the right ones by their ids, or to say `all`";
            answer["next"] = format!("{MIN_CONFIRMED} confirmed pairs are the least: {ask}").into();
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
        "Reads from what the user said last whether the validated recipe may be run over all rows.";
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
                "tell them how it validates, and ask whether to run it",
            ));
        };
        let approval = read_approval(last);
        self.0.findings().is_approved = approval == Approval::Given;
        Ok(match approval {
            Approval::Given => json!({"approved": true}),
            Approval::Refused => json!({"approved": false, "refused": true}),
            Approval::Unclear => {
                json!({"approved": false, "next": "ask for a plain `yes` or `no`, and say what it means"})
            }
        })
    }
}
