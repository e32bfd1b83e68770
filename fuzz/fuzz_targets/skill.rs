//! Any text as a `SKILL.md`: nothing panics, and each link stands in a line of the file.
//!
//! `cargo +nightly fuzz run skill fuzz/corpus/skill fuzz/seeds/skill -- -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_skills::Skill;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (skill, problems) = Skill::parse(&text, "SKILL.md", "fuzz");
    let Some(skill) = skill else {
        assert!(!problems.is_empty());
        return;
    };
    assert!(!skill.description.trim().is_empty());
    let lines = text.matches('\n').count() + 1;
    assert!(skill.links.iter().all(|link| (1..=lines).contains(&link.line_number) && !link.target.is_empty()));
    assert!(skill.allowed_tools.iter().all(|tool| !tool.is_empty()));
});
