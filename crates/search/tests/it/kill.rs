//! A writer that is killed at any moment, or fails, leaves a good index.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Instant, SystemTime},
};

use prospector_search::embed::{EmbedError, Embedder, ModelId, Role};
use prospector_search::{Index, StaticTable};

use crate::states;

const KILLS: u32 = 36;

/// The child: from the state it finds to the next, without end.
#[test]
#[ignore = "runs in a process of its own, to be killed"]
fn write_without_end() {
    let Some(folder) = states::folder() else { return };
    let index = states::open(&folder);
    let mut state = states::state(&index);
    println!("working");
    loop {
        state += 1;
        index.refresh(states::records(state), &|_, _| ()).unwrap();
    }
}

#[test]
fn a_writer_killed_at_any_moment_leaves_a_good_index() {
    let folder = tempfile::tempdir().unwrap();
    let index = states::open(folder.path());
    let start = Instant::now();
    index.refresh(states::records(0), &|_, _| ()).unwrap();
    // Long enough for some refreshes to be completed, on a slow machine too, and short enough to hit the first one often.
    let longest = start.elapsed() * 3;
    // From one kill to the next it may not go back; how far it comes depends on when it is killed.
    let mut reached = 0;
    let mut moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    for _ in 0..KILLS {
        let (mut child, _output) = states::start("kill::write_without_end", folder.path());
        moment = moment.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        std::thread::sleep(longest.mul_f64(f64::from(moment) / f64::from(u32::MAX)));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "it was killed, it did not end");

        let after = states::open(folder.path());
        let state = states::state(&after);
        states::check_vectors(&after);
        assert!(state >= reached, "state {state} after {reached}");
        assert_eq!(states::state(&index), state, "one that was open all the time sees the same");
        reached = state;
    }
    assert!(reached > 0, "no refresh was ever completed");

    let report = index.refresh(states::records(reached + 1), &|_, _| ()).unwrap();
    assert_eq!(report.rebuilt, None);
    assert_eq!(states::state(&states::open(folder.path())), reached + 1);
    // What the killed ones left does not pile up: one generation, its segments, and a few files beside them.
    let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let generation = folder.path().join(std::fs::read_to_string(folder.path().join("CURRENT")).unwrap());
    assert!(count(folder.path()) <= 4, "generations pile up");
    assert!(count(&generation.join("lexical")) < 100, "segments pile up");
}

/// The shipped table, until it breaks.
struct Fragile {
    table: StaticTable,
    broken: Arc<AtomicBool>,
}

impl Embedder for Fragile {
    fn model(&self) -> &ModelId {
        self.table.model()
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    fn embed(&self, role: Role, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(EmbedError { model: "the fragile table".into(), reason: "it broke".into() });
        }
        self.table.embed(role, texts)
    }
}

#[test]
fn a_refresh_that_fails_says_why_and_leaves_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Arc::new(AtomicBool::new(false));
    let embedder = Fragile { table: StaticTable::shipped().unwrap(), broken: broken.clone() };
    let index = Index::open(folder.path(), Some(Arc::new(embedder))).unwrap();
    index.refresh(states::records(0), &|_, _| ()).unwrap();
    let before = index.stamp();
    // The next one changes a few records, the fourth all of them.
    for state in [1, 4] {
        broken.store(true, Ordering::Relaxed);
        let error = index.refresh(states::records(state), &|_, _| ()).unwrap_err();
        assert_eq!(error.to_string(), "cannot embed with the fragile table: it broke");
        broken.store(false, Ordering::Relaxed);
        assert_eq!(states::state(&index), 0);
        assert_eq!(index.stamp(), before);
        let generations = std::fs::read_dir(folder.path()).unwrap().flatten().filter(|entry| entry.path().is_dir());
        assert_eq!(generations.count(), 1, "what failed takes no room");
    }
    index.refresh(states::records(4), &|_, _| ()).unwrap();
    assert_eq!(states::state(&index), 4);
    states::check_vectors(&index);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    std::fs::write(&path, "a file is in the way").unwrap();
    let error = states::open(&path).refresh(states::records(0), &|_, _| ()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot create the index at {}: ", path.display())), "{error}");
}

#[cfg(unix)]
#[test]
fn an_index_in_a_read_only_folder_is_left_as_it_is() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    states::open(&path).refresh(states::records(0), &|_, _| ()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(path.join("probe"), "").is_ok() {
        // Root may write everywhere: there is nothing to see.
        return;
    }
    let error = states::open(&path).refresh(states::records(4), &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
    assert_eq!(states::state(&states::open(&path)), 0);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
