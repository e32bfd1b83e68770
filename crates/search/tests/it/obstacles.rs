//! A full disk and a read-only folder: the old index remains usable, and the cause is reported.
//!
//! The disk is a small tmpfs in a private mount namespace, which Linux permits for root and usually for all users.
//! If that is not possible, the tests report that they were skipped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use prospector_search::{Index, SearchError};
use prospector_state::Obstacle;

use crate::states;

/// Passes the path of the small disk to a child process.
const DISK: &str = "PROSPECTOR_TEST_DISK";

/// Runs one of the ignored tests with a disk of four megabytes.
fn with_disk(test: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=4m tmpfs \"$0\" && exec \"$@\"";
    let namespace = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    let can = Command::new("unshare").args(namespace).arg(mount).arg(folder.path()).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        println!("{test} was skipped: no disk can be mounted here");
        return;
    }
    let ran = Command::new("unshare")
        .args(namespace)
        .args([mount.as_ref(), folder.path().as_os_str(), std::env::current_exe().unwrap().as_os_str()])
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(DISK, folder.path())
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

fn disk() -> Option<PathBuf> {
    std::env::var_os(DISK).map(PathBuf::from)
}

/// Fills the disk, leaving about this number of bytes.
fn fill(disk: &Path, left: usize) {
    use std::io::Write;
    let path = disk.join("filler");
    let mut file = fs::File::create(&path).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(left as u64)).unwrap();
}

fn refresh(index: &Index, state: u64) -> Result<(), SearchError> {
    index.refresh(states::records(state), &|_, _| ()).map(drop)
}

fn damage(index: &Path) {
    let generation = index.join(fs::read_to_string(index.join("CURRENT")).unwrap());
    let path = generation.join("vectors-0.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    // Written in place, as a full disk has no room for a copy.
    use std::os::unix::fs::FileExt;
    fs::File::options().write(true).open(path).unwrap().write_all_at(&bytes[100..101], 100).unwrap();
}

#[test]
fn full_disk_keeps_the_old_index() {
    with_disk("obstacles::on_a_full_disk");
}

#[test]
#[ignore = "runs in a process of its own, with a disk of its own"]
fn on_a_full_disk() {
    let Some(disk) = disk() else { return };
    let path = disk.join("index");
    let index = states::open(&path);
    let (mut state, mut refused) = (0, 0);
    refresh(&index, 0).unwrap();
    // Space runs out at every step of an update and of a rebuild.
    for left in (0..600).step_by(12).map(|kib| kib * 1024) {
        for next in [state + 1, state + 4 - state % 4] {
            fill(&disk, left);
            match refresh(&index, next) {
                Ok(()) => state = next,
                Err(error) => {
                    assert_eq!(error.obstacle(), Some(Obstacle::Full), "{left} bytes were left: {error}");
                    assert!(error.to_string().contains("No space left"), "{error}");
                    refused += 1;
                }
            }
            for index in [&index, &states::open(&path)] {
                let found = states::state(index);
                // A commit precedes the merge of segments, for which there may be no room.
                assert!(found == state || found == next, "state {found}, neither {state} nor {next}");
                state = found;
                index.check().unwrap();
            }
            assert_eq!(Index::examine(&path).unwrap().damage, []);
            fs::remove_file(disk.join("filler")).unwrap();
        }
    }
    println!("refused {refused} times, and came to state {state}");
    assert!(refused > 10 && state > 0);

    damage(&path);
    fill(&disk, 0);
    let error = refresh(&index, state).unwrap_err();
    assert_eq!(error.obstacle(), Some(Obstacle::Full), "{error}");
    assert!(matches!(index.check(), Err(SearchError::Damaged(_))), "what is damaged is not searched");
    fs::remove_file(disk.join("filler")).unwrap();
    let report = index.refresh(states::records(state), &|_, _| ()).unwrap();
    assert!(report.rebuilt.unwrap().contains("vectors-0.bin"));
    assert_eq!(states::state(&index), state);
}

#[test]
fn read_only_disk_keeps_the_old_index() {
    with_disk("obstacles::on_a_read_only_disk");
}

#[test]
#[ignore = "runs in a process of its own, with a disk of its own"]
fn on_a_read_only_disk() {
    let Some(disk) = disk() else { return };
    let path = disk.join("index");
    refresh(&states::open(&path), 0).unwrap();
    let remount = |how: &str| {
        let mounted = Command::new("mount").args(["-o", how]).arg(&disk).status().unwrap();
        assert!(mounted.success(), "{how}");
    };
    remount("remount,ro");
    let index = states::open(&path);
    assert_eq!(states::state(&index), 0);
    // There are no changes to write, so there is no error.
    let report = index.refresh(states::records(0), &|_, _| ()).unwrap();
    assert_eq!(report.unchanged, states::records(0).len());
    for next in [1, 4] {
        let error = refresh(&index, next).unwrap_err();
        assert_eq!(error.obstacle(), Some(Obstacle::ReadOnly), "{error}");
        assert_eq!(states::state(&index), 0);
    }
    assert!(index.rebuild(states::records(0), &|_, _| ()).unwrap_err().obstacle().is_some());
    states::check_vectors(&states::open(&path));
    assert_eq!(Index::examine(&path).unwrap().damage, []);

    remount("remount,rw");
    damage(&path);
    remount("remount,ro");
    assert_eq!(refresh(&index, 0).unwrap_err().obstacle(), Some(Obstacle::ReadOnly));
    assert!(matches!(index.check(), Err(SearchError::Damaged(_))));
    remount("remount,rw");
    refresh(&index, 1).unwrap();
    assert_eq!(states::state(&index), 1);
}
