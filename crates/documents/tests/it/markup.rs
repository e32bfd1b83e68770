//! MDX, reStructuredText, AsciiDoc and Org: sections, text as written, search, and robustness against arbitrary text.

use std::time::{Duration, Instant};

use prospector_documents::{Document, DocumentDiscovery, DocumentSource, Format, Origin, formats::limits};
use prospector_search::Index;

/// Loads a document from a file with this extension.
fn load(extension: &str, text: &str) -> Document {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("handbook.{extension}"));
    std::fs::write(&path, text).unwrap();
    let (mut documents, problems) = DocumentSource::path(&path).load();
    assert!(problems.is_empty(), "{problems:?}");
    documents.remove(0)
}

const RST: &str = "\
.. _handbook:

==================
Warehouse handbook
==================

:Author: Ada Quill

It binds **every** shift; see :ref:`the rules <rules>`.

Packing
=======

- Gift notes lie on top.
- Invoices are
  never packed.

Fragile goods
-------------

.. warning:: Use foam.

Run it::

    pack --foam
    pack --done

Cut-off times
=============

=========  =======
Warehouse  Cut-off
=========  =======
Leipzig    15:30
Hobart     13:00
=========  =======
";

const ASCIIDOC: &str = "\
// A comment.
= Warehouse handbook
Ada Quill <ada@x.example>
:tool: pack

It binds *every* shift; see <<rules,the rules>>.

== Packing

* Gift notes lie on top.
* Invoices are
never packed.

[#fragile]
=== Fragile goods

WARNING: Use foam.

[source,sh]
----
== Run it
pack --foam
pack --done
----

== Cut-off times

|===
|Warehouse |Cut-off
|Leipzig |15:30
|Hobart |13:00
|===
";

const ORG: &str = "\
#+TITLE: Warehouse handbook
#+AUTHOR: Ada Quill

It binds *every* shift; see [[rules][the rules]].

* Packing
:PROPERTIES:
:CUSTOM_ID: packing
:END:

- Gift notes lie on top.
- Invoices are
  never packed.

** Fragile goods

WARNING: Use foam.

#+BEGIN_SRC sh
pack --foam
pack --done
#+END_SRC

* Cut-off times

| Warehouse | Cut-off |
|-----------+---------|
| Leipzig   |   15:30 |
| Hobart    |   13:00 |
";

const MDX: &str = "\
---
title: Warehouse handbook
author: Ada Quill
tags: [parcels, carriers]
---
import Warning from '../warning'
import {
  Tabs,
  Tab,
} from '../tabs'

It binds **every** shift; see [the rules](rules).

## Packing

- Gift notes lie on top.
- Invoices are
  never packed.

### Fragile goods

<Warning title=\"WARNING\">

Use foam.

</Warning>

```sh
import pack
pack --foam
pack --done
```

## Cut-off times

| Warehouse | Cut-off |
| --- | --- |
| Leipzig | 15:30 |
| Hobart | 13:00 |
";

const SAMPLES: [(&str, Format, &str); 4] = [
    ("rst", Format::Rst, RST),
    ("adoc", Format::AsciiDoc, ASCIIDOC),
    ("org", Format::Org, ORG),
    ("mdx", Format::Mdx, MDX),
];

#[test]
fn markup_languages_have_the_same_sections() {
    for (extension, format, source) in SAMPLES {
        let document = load(extension, source);
        assert_eq!((document.format, document.title.as_str()), (format, "Warehouse handbook"));
        let names: Vec<String> =
            document.sections.iter().map(prospector_documents::model::Section::full_name).collect();
        let expected = ["Warehouse handbook", "Packing", "Packing > Fragile goods", "Cut-off times"];
        assert_eq!(names, expected, "{extension}");
        for (section, words) in [
            ("Warehouse handbook", "every"),
            ("Packing", "- Gift notes lie on top.\n"),
            ("Fragile goods", "Use foam."),
            ("Fragile goods", "pack --foam\n"),
            ("Cut-off times", "Hobart"),
        ] {
            let text = document.section(section).unwrap().text.replace("* ", "- ");
            assert!(text.contains(words), "{extension}: {text}");
        }
        assert!(document.description.contains("every"), "{extension}: {}", document.description);
        // Sections name their lines in the file.
        let heading = source.lines().nth(document.section("Packing").unwrap().line - 1);
        assert!(heading.is_some_and(|line| line.ends_with("Packing")), "{extension}: {heading:?}");
    }
}

#[test]
fn search_finds_passages_of_markup_languages() {
    for (extension, _, text) in SAMPLES {
        let (documents, _) = DocumentDiscovery::new(vec![load(extension, text)]);
        let index = Index::in_memory(documents.records(), None).unwrap();
        let found = documents.passages(&index, "what is the cut-off time of the warehouse in Hobart", 1).unwrap();
        assert_eq!(found[0].section, "Cut-off times", "{extension}");
        assert!(found[0].text.contains("13:00"), "{extension}: {}", found[0].text);
        let found = documents.passages(&index, "handbook by Ada Quill", 1).unwrap();
        assert_eq!(found[0].section, "Warehouse handbook", "{extension}");
    }
}

#[test]
fn text_is_kept_as_written() {
    for (extension, _, text) in &SAMPLES[..3] {
        let document = load(extension, text);
        assert_eq!(document.content, *text);
        let section = document.section("Cut-off times").unwrap();
        assert!(text.trim_end().ends_with(&section.text), "{extension}: {}", section.text);
    }
}

#[test]
fn mdx_keeps_all_but_statements_and_front_matter() {
    let document = load("mdx", MDX);
    assert_eq!(document.metadata["author"], "Ada Quill");
    assert_eq!(document.tags, ["parcels", "carriers"]);
    let start = MDX.find("It binds").unwrap();
    assert_eq!(document.content.trim_start(), &MDX[start..]);
}

/// Divides a text into sections and index records, and checks that they are consistent.
fn divide(text: &str, format: Format) -> (usize, Vec<prospector_core::Problem>) {
    let origin = Origin::Inline { text: text.to_owned(), format };
    let (documents, problems) = DocumentSource { origin, ..DocumentSource::inline("x", "") }.load();
    let (documents, _) = DocumentDiscovery::new(documents);
    let document = &documents.documents()[0];
    let mut end = 0;
    for section in &document.sections {
        assert!(section.range.start >= end && document.content.get(section.range.clone()).is_some());
        end = section.range.end;
    }
    assert!(!documents.records().is_empty());
    (document.sections.len(), problems)
}

#[test]
fn arbitrary_text_does_not_panic() {
    let odd = "é|`_[{<(+*=~é\n\u{a0}\u{3000}- ü\n==\nü\n==\n= é\n* ö\n----\n\u{a0}\n```\né\n=\nimport é\n";
    let mut seed = 88_172_645_463_325_252_u64;
    println!("seed {seed}");
    for sample in [RST, ASCIIDOC, ORG, MDX, odd] {
        let chars: Vec<char> = sample.chars().collect();
        for _ in 0..300 {
            let mut damaged = chars.clone();
            for _ in 0..8 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let at = |shift: u32| (seed >> shift) as usize % damaged.len();
                let (from, to) = (at(0), at(20));
                match seed % 3 {
                    0 => damaged.swap(from, to),
                    1 => damaged[to] = damaged[from],
                    _ => damaged.truncate(to.max(1)),
                }
            }
            let text: String = damaged.into_iter().collect();
            SAMPLES.iter().for_each(|(_, format, _)| drop(divide(&text, *format)));
        }
    }
}

#[test]
fn run_time_is_linear() {
    let signs = [
        "=",
        "= a\n",
        "* a\n",
        "a\n==\n\n",
        "==\na\n==\n",
        "----\n",
        "```\n",
        "\n",
        "import a\n\n",
        "<a {",
        "[",
        ":a:\n",
    ];
    for sign in signs {
        let text = sign.repeat(30_000 / sign.len());
        for (_, format, _) in SAMPLES {
            let started = Instant::now();
            divide(&text, format);
            assert!(started.elapsed() < Duration::from_secs(10), "{sign:?} as {format:?}: {:?}", started.elapsed());
        }
    }
}

#[test]
fn headings_are_limited_in_number_and_length() {
    let many = limits::MAX_HEADINGS + 10;
    for (format, heading) in
        [(Format::Markdown, "# a\n"), (Format::Rst, "a\n==\n"), (Format::AsciiDoc, "= a\n"), (Format::Org, "* a\n")]
    {
        let (sections, problems) = divide(&heading.repeat(many), format);
        assert_eq!(sections, limits::MAX_HEADINGS, "{format:?}");
        assert_eq!(problems.len(), 1, "{problems:?}");
        let long = heading.replace('a', &"a".repeat(1_000)).replace("\n=", "\n====");
        let (sections, problems) = divide(&format!("{long}\n{long}"), format);
        assert!(sections == 1 && problems.is_empty(), "{format:?}: {problems:?}");
    }
}
