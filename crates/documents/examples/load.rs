//! Measures the time to load many documents: initially, unchanged, and with one of them changed.
//!
//! `cargo run --release -p prospector-documents --example load -- 10000` writes that number of small documents into a
//! temporary folder: of twenty, sixteen in Markdown with front matter, three in HTML, one in plain text. Indexing is
//! not measured.

use std::{fmt::Write, fs, path::Path, time::Instant};

use prospector_documents::{DocumentDiscovery, DocumentSource, refresh::Snapshot};

const WORDS: [&str; 16] = [
    "order",
    "parcel",
    "refund",
    "customer",
    "invoice",
    "shift",
    "warehouse",
    "carrier",
    "policy",
    "price",
    "discount",
    "report",
    "ledger",
    "audit",
    "vendor",
    "supply",
];

/// A deterministic pseudo-random generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }

    fn paragraph(&mut self) -> String {
        let count = 2 + self.below(5);
        (0..count).map(|_| format!("The {}.", self.words(10))).collect::<Vec<_>>().join(" ")
    }
}

fn write(folder: &Path, count: usize) -> std::io::Result<usize> {
    let mut numbers = Numbers(7);
    let mut bytes = 0;
    for n in 0..count {
        let of = folder.join(format!("{:02}", n % 100));
        fs::create_dir_all(&of)?;
        let title = format!("{} {n}", numbers.words(3));
        let sections: Vec<(String, String)> = (0..5).map(|_| (numbers.words(2), numbers.paragraph())).collect();
        let mut text = String::new();
        let extension = match n % 20 {
            0..=15 => {
                let _ = write!(text, "---\nauthor: Writer {}\ntags: [policy]\n---\n# {title}\n\n", n % 200);
                sections.iter().for_each(|(heading, words)| text += &format!("## {heading}\n\n{words}\n\n"));
                "md"
            }
            16..=18 => {
                let _ = write!(text, "<html><title>{title}</title><body><h1>{title}</h1>");
                sections.iter().for_each(|(heading, words)| text += &format!("<h2>{heading}</h2><p>{words}</p>"));
                "html"
            }
            _ => {
                sections.iter().for_each(|(heading, words)| text += &format!("{heading}\n\n{words}\n\n"));
                "txt"
            }
        };
        bytes += text.len();
        fs::write(of.join(format!("doc{n}.{extension}")), text)?;
    }
    Ok(bytes)
}

fn main() -> std::io::Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir()?;
    let bytes = write(folder.path(), count)?;
    println!("{count} documents, {:.1} MB", bytes as f64 / 1e6);
    let mut snapshot = Snapshot::default();
    for what in ["first", "unchanged", "one changed"] {
        if what == "one changed" {
            fs::write(folder.path().join("00/doc0.md"), "# Another\n\nText.\n")?;
        }
        let start = Instant::now();
        let sources = [DocumentSource::path(folder.path())];
        let (documents, found, problems) = DocumentDiscovery::refresh(&sources, &mut snapshot, &|_, _| ());
        let loaded = start.elapsed();
        let records = documents.records().len();
        println!(
            "{what}: {:.2} s, and {:.2} s for {records} records; {} added, {} updated, {} removed, {} unchanged, {} problems",
            loaded.as_secs_f64(),
            (start.elapsed() - loaded).as_secs_f64(),
            found.added,
            found.updated,
            found.removed,
            found.unchanged,
            problems.len()
        );
    }
    Ok(())
}
