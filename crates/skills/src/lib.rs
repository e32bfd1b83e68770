//! Skills: folders with written instructions for a kind of task, after the Agent Skills specification.
//!
//! [`SkillDiscovery`] reads every `SKILL.md` below some folders, gives the records that an index needs, and offers the
//! tools that a language model calls: it finds the skill for a task, reads its instructions, and then only those of the
//! linked files that it needs.
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_search::Index;
//! use prospector_skills::{SkillDiscovery, SkillFolder};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let folder = tempfile::tempdir().unwrap();
//! let skill = folder.path().join("quarterly-report");
//! std::fs::create_dir(&skill).unwrap();
//! let text = "---\nname: quarterly-report\ndescription: Writes the report of a quarter.\n---\n# Steps\n\n1. Ask which.";
//! std::fs::write(skill.join("SKILL.md"), text).unwrap();
//!
//! let folders = [SkillFolder { path: folder.path().to_owned(), required: true }];
//! let (skills, problems) = SkillDiscovery::load(&folders);
//! assert!(problems.is_empty());
//!
//! let skills = Arc::new(skills);
//! let index = Index::in_memory(skills.records(), None).unwrap();
//! let tools = skills.tools(&index);
//! let answer = tools.call("get_skill", serde_json::json!({"name": "quarterly-report"})).await.unwrap();
//! assert_eq!(answer.json()["content"], "# Steps\n\n1. Ask which.");
//! # }
//! ```
//!
//! A URL is only read through the [`Pages`] that it is given, and only one that the instructions link to.
//!
//! What it is not: it does not run anything that a skill says, fetches nothing itself, and reads no file outside the
//! folder of a skill, however a link spells it.

mod discovery;
mod error;
mod files;
mod front_matter;
mod links;
mod load;
mod model;
mod pages;
mod path;
mod render;
mod resolve;
mod tools;

pub use discovery::SkillDiscovery;
pub use error::SkillError;
pub use load::SkillFolder;
pub use model::{Skill, SkillLink};
pub use pages::{PageText, Pages, Refusal};
