//! Tests with a real model and a real onnxruntime, if available.
//!
//! `PROSPECTOR_TEST_MODEL` is a folder with a model for English text, `ORT_DYLIB_PATH` the onnxruntime of a build that
//! opens one. Without them, each test prints that it is skipped, and passes. `.ci/onnx` looks for both, and builds only
//! this binary, which is why it is separate from the other tests.

#![cfg(any(feature = "fastembed", feature = "fastembed-dynamic"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::embed::{Embedder, Role};
use prospector_search::ranking::Ranker;
use prospector_search::transformer::{Hub, Transformer};
use prospector_search::{Index, Query, StaticTable};

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn load(folder: &Path) -> Result<Transformer, String> {
    Transformer::from_folder(folder, variable("ORT_DYLIB_PATH").as_deref()).map_err(|error| error.to_string())
}

/// The folder of the model, and the model.
type Model = (PathBuf, Arc<Transformer>);

static MODEL: LazyLock<Result<Model, String>> = LazyLock::new(|| {
    let folder = variable("PROSPECTOR_TEST_MODEL").ok_or("PROSPECTOR_TEST_MODEL names no folder with a model")?;
    // The first library opened is used by the whole process, so this must come first.
    if cfg!(feature = "fastembed-dynamic") {
        let library = Path::new("/nowhere/libonnxruntime.so");
        let error = Transformer::from_folder(&folder, Some(library)).err().unwrap().to_string();
        assert!(error.contains("onnxruntime") && error.contains("nowhere"), "{error}");
    }
    match load(&folder) {
        Ok(model) => Ok((folder, Arc::new(model))),
        Err(error) if error.contains("cannot open onnxruntime") => Err(error),
        Err(error) => panic!("{error}"),
    }
});

/// The model, or `None` after printing why it is missing.
fn model(test: &str) -> Option<&'static Model> {
    match &*MODEL {
        Ok(model) => Some(model),
        Err(reason) => {
            // Written to standard error, as the output of passing tests is captured.
            let _ = std::io::stderr().write_all(format!("skipped: {test}: {reason}\n").as_bytes());
            None
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn similar_texts_are_closer() {
    let Some((_, model)) = model("similar_texts_are_closer") else { return };
    for (text, near, far) in [
        ("what did customers buy", "orders and their line items", "volcanic eruptions since 1900"),
        ("delete a user account", "DELETE /members/{id}", "list the weather stations"),
        ("doctor", "physician", "railway"),
    ] {
        let vectors = model.embed(Role::Record, &[text, near, far]).unwrap();
        let (n, f) = (dot(&vectors[0], &vectors[1]), dot(&vectors[0], &vectors[2]));
        assert!(n > f + 0.05, "{text}: {near} {n:.3}, {far} {f:.3}");
    }
}

#[test]
fn vector_is_independent_of_the_batch() {
    let Some((_, model)) = model("vector_is_independent_of_the_batch") else { return };
    let long = "invoice lines of all customers ".repeat(2_000);
    let texts = ["one row for each purchase", "", " \n", "songs", &long, "\u{1F9FF} 東京 é"];
    let together = model.embed(Role::Record, &texts).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(vector.len(), model.dimensions());
        assert_eq!(vector, &model.embed(Role::Record, &[text]).unwrap()[0]);
        assert_eq!(vector.iter().all(|value| *value == 0.0), text.trim().is_empty(), "{text}");
    }
    assert_eq!(model.embed(Role::Query, &[]).unwrap(), Vec::<Vec<f32>>::new());
}

fn records() -> Vec<Record> {
    [
        ("invoices", "One row for each purchase of a customer."),
        ("tracks", "Songs and how long they are."),
        ("employees", "Who works here, since when, and who supervises whom."),
        ("exchange_rates", "What a currency was worth on a day."),
        ("warehouses", "Where goods are stored."),
    ]
    .into_iter()
    .map(|(name, description)| {
        let mut record = Record::new(Kind::Table, format!("store.{name}"), name);
        record.description = description.into();
        record
    })
    .collect()
}

#[test]
fn finds_records_without_common_words() {
    let Some((_, model)) = model("finds_records_without_common_words") else { return };
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), Some(model.clone())).unwrap();
    assert!(index.refresh(records(), &|_, _| ()).unwrap().rebuilt.is_some());
    for (text, wanted) in [
        ("music", "store.tracks"),
        ("staff and their managers", "store.employees"),
        ("how many dollars is a euro", "store.exchange_rates"),
        ("depots", "store.warehouses"),
    ] {
        for ranker in [Ranker::Dense, Ranker::Full] {
            let query = Query { text: text.into(), limit: 1, ranker, ..Query::default() };
            assert_eq!(index.rank(&query).unwrap()[0].id, wanted, "{text} ({ranker})");
        }
    }
    // Another process opens the same index, and embeds nothing again.
    let again = Index::open(folder.path(), Some(model.clone())).unwrap();
    assert_eq!(again.refresh(records(), &|_, _| ()).unwrap().unchanged, records().len());
    // Vectors of different models are never mixed.
    let other: Arc<dyn Embedder> = Arc::new(StaticTable::shipped().unwrap());
    assert_ne!(other.model(), model.model());
    let other = Index::open(folder.path(), Some(other)).unwrap();
    assert!(other.is_empty());
    assert!(other.refresh(records(), &|_, _| ()).unwrap().rebuilt.unwrap().contains("embedder"));
}

/// Copies the folder of the model.
fn copy(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        // `fs::copy` would preserve read-only permissions.
        fs::write(copy.path().join(entry.file_name()), fs::read(entry.path()).unwrap()).unwrap();
    }
    copy
}

fn network(folder: &Path) -> PathBuf {
    let mut paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "onnx")).unwrap()
}

#[test]
fn model_id_depends_on_content() {
    let Some((folder, model)) = model("model_id_depends_on_content") else { return };
    let same = copy(folder);
    assert_eq!(load(same.path()).unwrap().model(), model.model(), "a copy is the same model");
    let mut bytes = fs::read(network(same.path())).unwrap();
    // An entry of `metadata_props`, field 14 of ModelProto: does not affect the network.
    bytes.extend(*b"\x72\x06\x0a\x01k\x12\x01v");
    fs::write(network(same.path()), bytes).unwrap();
    assert_ne!(load(same.path()).unwrap().model(), model.model());
}

#[test]
fn errors_name_the_broken_file() {
    let Some((folder, _)) = model("errors_name_the_broken_file") else { return };
    let check = |what: &str, named: &str, damage: &dyn Fn(&Path)| {
        let copy = copy(folder);
        damage(copy.path());
        let error = load(copy.path()).err().unwrap_or_else(|| panic!("{what}: it was loaded"));
        assert!(error.contains(copy.path().to_str().unwrap()) && error.contains(named), "{what}: {error}");
    };
    let cut = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    check("no network", "model.onnx", &|folder| fs::remove_file(network(folder)).unwrap());
    check("no tokenizer", "tokenizer.json", &|folder| fs::remove_file(folder.join("tokenizer.json")).unwrap());
    check("half a network", ".onnx", &|folder| cut(&network(folder)));
    check("garbage for a network", ".onnx", &|folder| fs::write(network(folder), "garbage").unwrap());
    check("an empty network", ".onnx", &|folder| fs::write(network(folder), "").unwrap());
    check("half a tokenizer", "tokenizer.json", &|folder| cut(&folder.join("tokenizer.json")));
    check("no settings", "model_max_length", &|folder| fs::write(folder.join("tokenizer_config.json"), "{}").unwrap());
    check("unknown pooling", "1_Pooling", &|folder| {
        fs::create_dir(folder.join("1_Pooling")).unwrap();
        fs::write(folder.join("1_Pooling/config.json"), r#"{"pooling_mode_lasttoken": true}"#).unwrap();
    });
    let error = load(Path::new("/nowhere/at/all")).err().unwrap();
    assert!(error.contains("/nowhere/at/all"), "{error}");
}

#[test]
fn applies_configured_prompts() {
    let Some((folder, model)) = model("applies_configured_prompts") else { return };
    let copy = copy(folder);
    let prompts = r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#;
    fs::write(copy.path().join("config_sentence_transformers.json"), prompts).unwrap();
    let prompted = load(copy.path()).unwrap();
    assert_ne!(prompted.model(), model.model());
    let (query, record) =
        (prompted.embed(Role::Query, &["songs"]).unwrap(), prompted.embed(Role::Record, &["songs"]).unwrap());
    assert_eq!(query, model.embed(Role::Query, &["query: songs"]).unwrap());
    assert_eq!(record, model.embed(Role::Record, &["passage: songs"]).unwrap());
}

/// Serves the files of a folder as every repository of a hub, and counts requests.
fn serve(folder: &Path) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let (folder, count) = (folder.to_owned(), requests.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = answer(stream, &folder);
        }
    });
    (endpoint, requests)
}

/// Answers `GET /ORGANISATION/MODEL/resolve/main/FILE` with a range of the file, as the hub does.
fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut head = Vec::new();
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        head.push(line);
    }
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let name = path.split_once("/resolve/main/").map_or("", |(_, file)| file.rsplit('/').next().unwrap_or(file));
    let path = if name.ends_with(".onnx") { network(folder) } else { folder.join(name) };
    let Ok(bytes) = fs::read(path) else {
        return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let range = head.iter().find_map(|line| line.strip_prefix("range: bytes=")).unwrap_or("0-");
    let (from, to) = range.split_once('-').unwrap_or(("0", ""));
    let from: usize = from.parse().unwrap_or(0);
    let end = to.parse().map_or(bytes.len(), |to: usize| to + 1).min(bytes.len());
    write!(
        stream,
        "HTTP/1.1 206 Partial Content\r\nX-Repo-Commit: 0123\r\nETag: \"{name}\"\r\nContent-Length: {}\r\n\
         Content-Range: bytes {from}-{}/{}\r\nConnection: close\r\n\r\n",
        end - from,
        end - 1,
        bytes.len()
    )?;
    stream.write_all(&bytes[from..end])
}

#[test]
fn downloads_hub_models_once() {
    let Some((folder, model)) = model("downloads_hub_models_once") else { return };
    let (endpoint, requests) = serve(folder);
    let cache = tempfile::tempdir().unwrap();
    let hub = Hub { cache: cache.path().join("models"), endpoint: Some(endpoint), ..Hub::default() };
    // A name with mean pooling and without prompts, like the folder.
    let load = |hub: &Hub| Transformer::from_hub("all-MiniLM-L6-v2-q", hub, None).map_err(|error| error.to_string());
    assert_eq!(load(&hub).unwrap().model(), model.model());
    let asked = requests.load(Ordering::Relaxed);
    assert!(asked > 0);
    assert_eq!(load(&hub).unwrap().model(), model.model());
    assert_eq!(requests.load(Ordering::Relaxed), asked, "what is in the cache is not asked for");
    let unreachable = Hub { cache: cache.path().join("empty"), endpoint: Some("http://127.0.0.1:9".into()), ..hub };
    let error = load(&unreachable).err().unwrap();
    assert!(error.contains("http://127.0.0.1:9") && error.contains("tokenizer.json"), "{error}");
    let error = Transformer::from_hub("all-MiniLM-L66", &unreachable, None).err().unwrap().to_string();
    assert!(error.contains("AllMiniLML6V2"), "{error}");
}
