//! Cancelled openings end early, and leave the index as it was.

use std::{fs, path::Path};

use prospector_discovery::{Catalog, CatalogError, CatalogOptions};
use tokio_util::sync::CancellationToken;

/// Number of files of each kind: tables and documents.
const FILES: usize = 60;

fn write_files(folder: &Path) {
    for n in 0..FILES {
        let place = folder.join(format!("data/{}", n % 7));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(format!("t{n}.csv")), "id,total\n1,9.50\n").unwrap();
        fs::write(place.join(format!("d{n}.md")), "# Returns\n\nGoods come back.\n").unwrap();
    }
    fs::write(folder.join("small.csv"), "id\n1\n").unwrap();
}

fn write_catalog(folder: &Path, text: &str) {
    fs::write(folder.join("catalog.yaml"), text).unwrap();
}

/// Opens the catalog, and cancels it after `most` progress reports of a stage.
async fn open_until(folder: &Path, what: &'static str, most: usize) -> (Result<usize, CatalogError>, usize) {
    let (cancel, done) = (CancellationToken::new(), std::sync::Mutex::new(0));
    let progress = |of: &'static str, _: usize, _: usize| {
        if of == what {
            let mut done = done.lock().unwrap();
            *done += 1;
            if *done >= most {
                cancel.cancel();
            }
        }
    };
    let options = CatalogOptions { cancel: cancel.clone(), progress: &progress, ..CatalogOptions::default() };
    let opened = Catalog::open(&folder.join("catalog.yaml"), options).await.map(|(catalog, _)| catalog.index.len());
    let done = *done.lock().unwrap();
    (opened, done)
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_stops_reading_and_indexes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    write_catalog(folder.path(), "databases:\n- path: small.csv\n");
    let (small, _) = open_until(folder.path(), "nothing", 1).await;
    let small = small.unwrap();
    let everything = "databases:\n- path: data/**/*.csv\ndocuments:\n- path: data/**/*.md\n";
    for (what, most) in [("sources", 2), ("documents", 2)] {
        write_catalog(folder.path(), everything);
        let (opened, done) = open_until(folder.path(), what, most).await;
        assert!(matches!(opened, Err(CatalogError::Cancelled)), "{what}: {opened:?}");
        assert!(done < FILES / 2, "{done} {what}");
        // The index is unchanged.
        write_catalog(folder.path(), "databases:\n- path: small.csv\n");
        let (catalog, _) = Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.unwrap();
        let refreshed = &catalog.refreshed;
        assert_eq!((catalog.index.len(), refreshed.added, refreshed.removed), (small, 0, 0), "{what}: {refreshed:?}");
    }
    write_catalog(folder.path(), everything);
    let (opened, done) = open_until(folder.path(), "sources", usize::MAX).await;
    assert!(opened.unwrap() >= 2 * FILES && done == FILES);
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_with_a_cancelled_token_reads_no_file() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    write_catalog(folder.path(), "databases:\n- path: data/**/*.csv\ndocuments:\n- path: data\n");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let options = CatalogOptions { cancel, ..CatalogOptions::default() };
    let opened = Catalog::open(&folder.path().join("catalog.yaml"), options).await.map(|_| ());
    assert!(matches!(opened, Err(CatalogError::Cancelled)), "{opened:?}");
    assert!(!folder.path().join(".prospector/index/CURRENT").exists());
}
