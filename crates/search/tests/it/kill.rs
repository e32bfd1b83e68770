//! A writer that is killed at any time, or fails, leaves a valid index.

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

/// The child process: refreshes from state to state, endlessly.
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
fn killed_writer_leaves_a_valid_index() {
    let folder = tempfile::tempdir().unwrap();
    let index = states::open(folder.path());
    let start = Instant::now();
    index.refresh(states::records(0), &|_, _| ()).unwrap();
    // Long enough for several refreshes even on a slow machine, and short enough to often hit the first one.
    let longest = start.elapsed() * 3;
    // States may not go back between kills; progress depends on timing.
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
    // Leftovers of killed processes do not accumulate: one generation, its segments, and a few other files.
    let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let generation = folder.path().join(std::fs::read_to_string(folder.path().join("CURRENT")).unwrap());
    assert!(count(folder.path()) <= 4, "generations pile up");
    assert!(count(&generation.join("lexical")) < 100, "segments pile up");
}

/// The shipped table, which fails at some point.
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
fn failed_refresh_keeps_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Arc::new(AtomicBool::new(false));
    let embedder = Fragile { table: StaticTable::shipped().unwrap(), broken: broken.clone() };
    let index = Index::open(folder.path(), Some(Arc::new(embedder))).unwrap();
    index.refresh(states::records(0), &|_, _| ()).unwrap();
    let before = index.stamp();
    // The next state changes a few records, the fourth one all of them.
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
fn reports_the_unwritable_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    std::fs::write(&path, "a file is in the way").unwrap();
    let error = states::open(&path).refresh(states::records(0), &|_, _| ()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot create the index at {}: ", path.display())), "{error}");
}

#[cfg(unix)]
#[test]
fn read_only_index_is_unchanged() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    states::open(&path).refresh(states::records(0), &|_, _| ()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(path.join("probe"), "").is_ok() {
        // Root can write everywhere, so there is nothing to test.
        return;
    }
    let error = states::open(&path).refresh(states::records(4), &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
    assert_eq!(states::state(&states::open(&path)), 0);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
