//! Parses API descriptions and prints duration, number of operations and number of problems as one line of JSON per
//! file. `--details` adds the size of operation details in `o200k_base` tokens (largest and mean); `--routes` adds
//! the operations; `--problems` adds the problems.
//!
//! `cargo run --release -p prospector-api --example parse -- [--details] [--routes] [--problems] FILE...`

use std::{sync::Arc, time::Instant};

use prospector_api::{ApiDiscovery, ApiSource};
use prospector_core::{Problem, tokens};
use prospector_search::Index;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let asked = |flag: &str| flags.iter().any(|known| known == flag);
    for file in files {
        let started = Instant::now();
        let loaded = ApiSource::new("api", &file).load();
        let seconds = started.elapsed().as_secs_f64();
        let (api, problems) = match loaded {
            Ok((api, problems)) => (Some(api), problems),
            Err(error) => (None, vec![Problem::from(error)]),
        };
        let operations = api.as_ref().map_or(0, |api| api.operations.len());
        let bytes = std::fs::metadata(&file)?.len();
        let mut line = json!({"file": file, "bytes": bytes, "seconds": seconds, "loaded": api.is_some(),
                              "operations": operations, "problems": problems.len()});
        if asked("--problems") {
            line["reported"] = problems.iter().map(ToString::to_string).collect();
        }
        if let Some(api) = api {
            line["types"] = json!(api.types.len());
            if asked("--routes") {
                line["routes"] = api.operations.iter().map(|operation| operation.route()).collect();
            }
            if asked("--details") {
                let names: Vec<String> = api.operations.iter().map(|operation| operation.name.clone()).collect();
                let tools = Arc::new(ApiDiscovery::new(vec![api])).tools(&Index::in_memory(Vec::new(), None)?);
                let (mut most, mut total, mut largest) = (0, 0, String::new());
                for name in names {
                    let answer = tools.call("get_operation_details", json!({"api": "api", "operation": name})).await?;
                    let count = tokens::count(&answer.json().to_string());
                    total += count;
                    if count > most {
                        (most, largest) = (count, name);
                    }
                }
                line["details"] = json!({"most": most, "of": largest, "mean": total / operations.max(1)});
            }
        }
        println!("{line}");
    }
    Ok(())
}
