//! The state folder: damage is reported and repaired, a full or read-only disk is reported, and files are private.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::Estate;
use serde_json::json;

const CATALOG: &str = "databases:\n- path: pets.csv\ndocuments:\n- name: rules\n  content: Pets are fed at noon.\n";

const PLAN: &str =
    r#"{"question": "", "plan": {"steps": [{"number": 1, "goal": "pets", "sql": "SELECT pet FROM pets.pets"}]}}"#;

fn estate() -> Estate {
    Estate::new(CATALOG).with("pets.csv", "pet,age\nhamster,2\n")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Flips the lowest bit in the middle of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn check_lists_damage_and_changes_nothing() {
    let estate = estate();
    assert_eq!(estate.run(["refresh", "--check"]).json(0)["files"], 0, "there is nothing yet");
    assert!(!estate.state().exists());
    estate.run(["refresh"]).json(0);
    estate.call("add_fact", &json!({"term": "noon", "definition": "twelve o'clock"})).json(0);
    estate.run(["refresh"]).json(0);
    let whole = estate.run(["refresh", "--check"]).json(0);
    assert_eq!(whole["damage"], json!([]));
    assert!(whole["files"].as_u64().unwrap() > 14, "{whole}");

    let mut damaged: Vec<PathBuf> = files(&estate.state())
        .into_iter()
        .filter(|path| {
            let name = path.to_string_lossy().into_owned();
            [".json", ".bin", ".store", ".fast"].iter().any(|end| name.ends_with(end))
        })
        .collect();
    assert!(damaged.len() > 7, "{damaged:?}");
    damaged.iter().for_each(|path| damage(path));
    let before: Vec<Vec<u8>> = files(&estate.state()).iter().map(|path| fs::read(path).unwrap()).collect();
    let ran = estate.run(["refresh", "--check"]);
    let report = ran.json(2);
    let listed = |report: &serde_json::Value| -> Vec<PathBuf> {
        report["damage"].as_array().unwrap().iter().map(|one| one["place"].as_str().unwrap().into()).collect()
    };
    // The checksums of the full-text files are in its meta.json.
    damaged.retain(|path| !["store", "fast"].contains(&path.extension().unwrap().to_str().unwrap()));
    damaged.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with("vectors"));
    let mut found = listed(&report);
    found.sort();
    assert_eq!(found, damaged);
    for one in report["damage"].as_array().unwrap() {
        assert!(one["reason"].as_str().unwrap().contains("checksum"), "{one}");
        assert!(one["advice"].as_str().unwrap().contains("planner refresh"), "{one}");
    }
    assert!(ran.err.contains("meta.json"), "{}", ran.err);
    let after: Vec<Vec<u8>> = files(&estate.state()).iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(before == after, "it changed something");

    let refreshed = estate.run(["refresh"]);
    let report = refreshed.json(0);
    assert!(report["rebuilt"].as_str().unwrap().starts_with("the index was damaged: "), "{report}");
    assert!(refreshed.err.contains("(the index was damaged: "), "{}", refreshed.err);
    let reasons = report["problems"].to_string();
    assert!(reasons.contains("sources"), "{reasons}");
    assert_eq!(estate.run(["refresh", "--check"]).json(0)["damage"], json!([]));
    assert_eq!(estate.run(["refresh"]).json(0)["problems"], json!([]));
}

#[test]
fn searching_a_damaged_index_reports_it_and_returns_the_same_result() {
    let estate = estate();
    let expected = estate.run(["search", "age of a pet"]).json(0);
    for end in [".idx", ".pos", ".store", "vectors-0.bin", "fit.bin", "CURRENT"] {
        let path = |end: &str| files(&estate.state()).into_iter().find(|path| path.to_string_lossy().ends_with(end));
        for cut in [false, true] {
            let path = path(end).unwrap();
            match cut {
                true => fs::File::options().write(true).open(path).unwrap().set_len(3).unwrap(),
                false => damage(&path),
            }
            let ran = estate.run(["search", "age of a pet"]);
            assert_eq!(ran.json(0), expected, "{end}");
            assert!(cut || ran.err.contains(" entries (the index was damaged: "), "{end}: {}", ran.err);
        }
        fs::remove_file(path(end).unwrap()).unwrap();
        assert_eq!(estate.run(["search", "age of a pet"]).json(0), expected, "{end} is gone");
    }
}

#[test]
fn refresh_all_rebuilds_the_index() {
    let estate = estate();
    estate.run(["refresh"]).json(0);
    let records = estate.run(["refresh"]).json(0)["unchanged"].clone();
    assert!(records.as_u64().unwrap() > 1);
    let report = estate.run(["refresh", "--all"]).json(0);
    assert_eq!((&report["added"], &report["unchanged"]), (&records, &json!(0)));
    assert_eq!(report["rebuilt"], "a rebuild was requested");
    assert!(estate.run(["refresh", "--all", "--check"]).complaint(2).contains("cannot be used with"));
}

#[test]
fn a_damaged_store_does_not_affect_others() {
    let estate = estate();
    estate.call("add_fact", &json!({"term": "noon", "definition": "twelve o'clock"})).json(0);
    for name in ["facts.sqlite", "sessions.sqlite"] {
        fs::write(estate.state().join(name), "no database at all ".repeat(300)).unwrap();
    }
    let checked = estate.run(["refresh", "--check"]);
    let places = checked.json(2)["damage"].to_string();
    for name in ["facts.sqlite", "sessions.sqlite"] {
        assert_eq!(
            (places.matches(name).count(), checked.err.matches(name).count()),
            (1, 1),
            "{places}\n{}",
            checked.err
        );
    }
    let report = estate.run(["refresh"]).json(2);
    assert!(report["problems"].to_string().contains("the fact store is damaged"), "{report}");
    let ran = estate.run(["search", "age of a pet"]);
    assert!(ran.json(0).to_string().contains("pets.pets"), "{}", ran.out);
    let asked = estate.run(["ask", "How old are the pets?", "--session", "mine"]);
    let complaint = asked.complaint(2);
    assert!(complaint.contains("the session store is damaged") && complaint.contains("move it away"), "{complaint}");
}

#[cfg(unix)]
mod rights {
    use std::{os::unix::fs::PermissionsExt, process::Command};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn assert_private(folder: &Path) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
        for path in files(folder) {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            assert_eq!(mode(path.parent().unwrap()), 0o700, "{}", path.display());
        }
    }

    #[test]
    fn state_files_are_private() {
        let estate = estate();
        let planner = |args: &[&str]| {
            let ran = Command::new("sh")
                .args(["-c", "umask 000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_planner")])
                .args(args)
                .env_clear()
                .env("PROSPECTOR_CATALOG", estate.path("catalog.yaml"))
                .env("PROSPECTOR_STATE", estate.state())
                .output()
                .unwrap();
            assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        };
        planner(&["call", "add_fact", "{\"term\": \"noon\", \"definition\": \"twelve o'clock\"}"]);
        planner(&["ask", "How many pets are there?", "--session", "mine"]);
        planner(&["refresh"]);
        estate.write("plan.json", PLAN);
        planner(&["run", estate.path("plan.json").to_str().unwrap()]);
        assert!(estate.state().join("runs").is_dir());
        assert!(estate.state().join("facts.sqlite").exists() && estate.state().join("sessions.sqlite").exists());
        assert_private(&estate.state());

        // Permissions of files of an earlier version are restricted.
        for path in files(&estate.state()) {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        planner(&["search", "pet"]);
        assert_private(&estate.state());
    }

    /// A received folder can contain links, as Git and tar store them.
    #[test]
    fn links_in_the_state_folder_are_refused() {
        use std::os::unix::fs::symlink;

        use crate::support::Ran;

        let estate = estate();
        for file in ["g-photos/1.jpg", "g-1-12345678/1.jpg", "settings.json", "values.bin", "outside.sqlite"] {
            estate.write(&format!("outside/{file}"), "kept");
        }
        let outside = estate.path("outside");
        let before = files(&outside);
        let planner =
            |args: &[&str]| Ran::of(estate.bare().env("PROSPECTOR_CATALOG", estate.path("catalog.yaml")).args(args));
        let refused = |link: &str, target: &Path| {
            let link = estate.path(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, &link).unwrap();
            for args in [&["refresh"][..], &["sql", "SHOW TABLES"], &["search", "pet"], &["facts", "list"]] {
                let ran = planner(args);
                let complaint = ran.complaint(2);
                assert!(complaint.contains(&format!("`{}` is a symbolic link", link.display())), "{complaint}");
                assert!(complaint.contains("remove it") && complaint.contains("--state FOLDER"), "{complaint}");
            }
            assert_eq!(files(&outside), before);
            assert!(before.iter().all(|path| fs::read(path).unwrap() == b"kept"));
            fs::remove_file(link).unwrap();
        };
        refused(".prospector", &outside);
        for name in ["index", "sources", "runs", "web", "scratch"] {
            refused(&format!(".prospector/{name}"), &outside);
        }
        refused(".prospector/facts.sqlite", &outside.join("outside.sqlite"));
        refused(".prospector/sessions.sqlite", &outside.join("new.sqlite"));
        refused(".prospector/index/write.lock", &outside.join("settings.json"));

        // `init` writes a schema for editors into the folder.
        fs::remove_dir_all(estate.path(".prospector")).unwrap();
        symlink(&outside, estate.path(".prospector")).unwrap();
        fs::remove_file(estate.path("catalog.yaml")).unwrap();
        let made = Ran::of(estate.bare().args(["init", estate.path("").to_str().unwrap()]));
        assert!(made.err.contains("is a symbolic link"), "{}", made.err);
        assert_eq!(files(&outside), before);
        fs::remove_file(estate.path(".prospector")).unwrap();
        estate.write("catalog.yaml", CATALOG);

        // The folder that the user names may be a link, and other entries may be too.
        fs::create_dir(estate.path("elsewhere")).unwrap();
        symlink(&outside, estate.path("elsewhere/mine")).unwrap();
        symlink(estate.path("elsewhere"), estate.state()).unwrap();
        estate.run(["refresh"]).json(0);
        assert!(estate.path("elsewhere/index").is_dir());
        assert_eq!(files(&outside), before);
    }

    #[test]
    fn only_files_of_the_program_are_removed() {
        let estate = estate();
        estate.run(["refresh"]).json(0);
        for path in ["sources/settings.json", "index/g-photos/1.jpg", "web/mine.note.json", "mine.new"] {
            let path = estate.state().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "kept").unwrap();
        }
        estate.run(["refresh", "--all"]).json(0);
        for path in ["sources/settings.json", "index/g-photos/1.jpg", "web/mine.note.json", "mine.new"] {
            assert!(estate.state().join(path).exists(), "{path}");
        }
    }

    #[test]
    fn temporary_files_of_killed_processes_are_removed() {
        let estate = estate();
        estate.run(["refresh"]).json(0);
        let left: Vec<PathBuf> = ["catalog.4711-0.new", "sources/0123.4711-0.new", "index/CURRENT.4711-0.new"]
            .map(|name| estate.state().join(name))
            .into();
        left.iter().for_each(|path| fs::write(path, "half").unwrap());
        estate.write("pets.csv", "pet,age,owner\nhamster,2,Ada\n");
        estate.run(["refresh"]).json(0);
        for path in left {
            assert!(!path.exists(), "{}", path.display());
        }
    }
}

/// A disk of two megabytes in a separate mount namespace, which Linux allows for root and usually for every user.
#[cfg(target_os = "linux")]
mod disk {
    use std::process::Command;

    use super::*;

    /// Runs a script with `$state` on such a disk and `planner` as the binary, and returns its output; `None`, with a message, if such a
    /// disk is not available.
    fn on_a_disk(estate: &Estate, script: &str) -> Option<String> {
        fs::create_dir_all(estate.state()).unwrap();
        let run = |script: &str| {
            let whole = format!(
                "set -e; mount -t tmpfs -o size=2m tmpfs \"$PROSPECTOR_STATE\"; state=\"$PROSPECTOR_STATE\"; {script}"
            );
            Command::new("unshare")
                .args(["--user", "--map-root-user", "--mount", "sh", "-c", &whole])
                .env("PROSPECTOR_CATALOG", estate.path("catalog.yaml"))
                .env("PROSPECTOR_STATE", estate.state())
                .env("planner", env!("CARGO_BIN_EXE_planner"))
                .output()
        };
        if !run("true").is_ok_and(|ran| ran.status.success()) {
            println!("skipped: no disk can be mounted here");
            return None;
        }
        let ran = run(script).unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{said}");
        Some(said)
    }

    /// Changes the catalog while the disk is blocked, and refreshes again after that.
    fn check(block: &str, unblock: &str, expected: &str) {
        let estate = estate();
        let script = format!(
            "fact='{{\"term\": \"noon\", \"definition\": \"twelve\"}}'
             \"$planner\" call add_fact \"$fact\" >/dev/null 2>&1
             \"$planner\" refresh >/dev/null 2>&1
             {block}
             \"$planner\" refresh >/dev/null 2>&1 && echo 'unchanged is good'
             \"$planner\" search 'age of a pet' 2>&1 | grep -q '\"pets.pets\"' && echo 'before: found'
             printf 'owner,city\\nAda,Porto\\n' > \"$(dirname \"$PROSPECTOR_CATALOG\")/owners.csv\"
             printf 'databases:\\n- path: pets.csv\\n- path: owners.csv\\n' > \"$PROSPECTOR_CATALOG\"
             \"$planner\" search 'age of a pet' 2>\"/tmp/.e.$$\" | grep -q '\"pets.pets\"' && echo 'after: found'
             sed 's/^/said: /' \"/tmp/.e.$$\"; rm \"/tmp/.e.$$\"
             status=0; \"$planner\" refresh >/dev/null 2>&1 || status=$?; echo \"refresh ended with $status\"
             \"$planner\" refresh --check >/dev/null 2>&1 && echo 'nothing is damaged'
             {unblock}
             \"$planner\" refresh >/dev/null 2>&1 && echo 'good again'
             \"$planner\" search owners | grep -q owners.owners && echo 'and up to date'"
        );
        let Some(said) = on_a_disk(&estate, &script) else { return };
        for part in [
            "unchanged is good",
            "before: found",
            "after: found",
            "refresh ended with 2",
            "nothing is damaged",
            "good again",
            "and up to date",
            "the previous version is searched",
            expected,
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("is damaged:"), "{said}");
    }

    #[test]
    fn a_full_disk_is_reported_and_the_old_index_is_used() {
        check(
            "dd if=/dev/zero of=\"$state/filler\" bs=4k 2>/dev/null || true",
            "rm \"$state/filler\"",
            "there is no space left on the disk of ",
        );
    }

    #[test]
    fn a_read_only_folder_is_reported_and_the_old_index_is_used() {
        check("mount -o remount,ro \"$state\"", "mount -o remount,rw \"$state\"", " is read-only");
    }

    #[test]
    fn searches_in_memory_without_disk_space() {
        let estate = estate();
        let script = "mount -o remount,ro \"$state\"
             \"$planner\" search 'age of a pet' 2>&1
             status=0; \"$planner\" refresh >/dev/null 2>&1 || status=$?; echo \"refresh ended with $status\"";
        let Some(said) = on_a_disk(&estate, script) else { return };
        for part in ["\"pets.pets\"", "an in-memory index is searched", "is read-only", "refresh ended with 2"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
