//! Skills: folders with written instructions for a kind of task, after the Agent Skills specification.
//!
//! [`SkillDiscovery`] loads every `SKILL.md` below some folders, returns the records to index, and provides the tools
//! for models: search for a skill, read its instructions, then only the linked files that are needed.
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
//! URLs are fetched only through [`Pages`], and only if the instructions link to them.
//!
//! Nothing in a skill is executed, and no file outside the folder of a skill is read.

mod discovery;
mod error;
mod files;
mod front_matter;
mod links;
mod load;
mod model;
mod pages;
mod path;
mod publish;
mod render;
mod resolve;
mod tools;

pub use discovery::SkillDiscovery;
pub use error::SkillError;
pub use load::SkillFolder;
pub use model::{Skill, SkillLink};
pub use pages::{PageText, Pages, Refusal};
pub use publish::PublishedSkill;
