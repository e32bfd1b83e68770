//! The review of a verified plan by the model.

use crate::support::{QUESTION, Scripted, TABLES, Turn, World, plan, prompt};
use prospector_agent::{Request, agent_loop::AgentLoop, plan::Review};
use serde_json::json;

/// Checks whether a plan is verified and confirmed after this reply to its review.
async fn check(reply: String, expected: (bool, bool)) {
    let model = Scripted::new(|round| match round {
        1 => Turn::call([("describe", json!({}))]),
        2 => Turn::say(plan(&TABLES)),
        _ => Turn::say(reply.clone()),
    });
    let (world, prompt) = (World::default(), prompt());
    let agent = AgentLoop { model: &model, tools: &world, names: &world };
    let request = Request { review: Review::Always, ..Request::new(QUESTION) };
    let verification = agent.plan(&prompt, &request).await.plan.verification;
    assert_eq!(model.requests().len(), 3, "{reply}");
    assert_eq!((verification.ok, verification.confirmed), expected, "{reply}");
}

#[tokio::test]
async fn a_corrected_plan_is_not_confirmed() {
    check(json!({"confirm": true}).to_string(), (true, true)).await;
    check(plan(&TABLES), (true, true)).await;
    check(plan(&TABLES[..1]), (true, false)).await;
}
