//! MDX, reStructuredText, AsciiDoc and Org: conversion, and robustness against arbitrary bytes.

use std::time::{Duration, Instant};

use prospector_documents::{
    Document, DocumentSource, Format,
    formats::{Converted, parse},
};

fn read(text: &str, format: Format) -> Converted {
    let (converted, problems) = parse("x", text.as_bytes(), format);
    assert!(problems.is_empty(), "{problems:?}");
    converted
}

#[track_caller]
fn check(format: Format, text: &str, expected: &str) {
    assert_eq!(read(text, format).text.trim_end(), expected);
}

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
==================
Warehouse handbook
==================

:Author: Ada Quill
:Keywords: parcels, carriers

It binds **every** shift; see :ref:`the rules <rules>`, `the site <https://x.example>`_ and the
``pack`` command.

.. toctree::
   :maxdepth: 2

   other

Packing
=======

- Gift notes lie on top.
- Invoices are
  never packed.

Fragile goods
-------------

.. warning:: Use foam.

   Twice for glass.

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
= Warehouse handbook
Ada Quill <ada@x.example>
:keywords: parcels, carriers
:tool: pack

It binds *every* shift; see <<rules,the rules>>, https://x.example[the site] and the
`{tool}` command.

include::other.adoc[]

== Packing

* Gift notes lie on top.
* Invoices are
never packed.

=== Fragile goods

[WARNING]
====
Use foam.

Twice for glass.
====

.Run it:
[source,sh]
----
pack --foam
pack --done
----

== Cut-off times

[cols=\"1,1\"]
|===
|Warehouse |Cut-off

|Leipzig
|15:30
|Hobart |13:00
|===
";

const ORG: &str = "\
#+TITLE: Warehouse handbook
#+AUTHOR: Ada Quill
#+FILETAGS: :parcels:carriers:

It binds *every* shift; see [[rules][the rules]], [[https://x.example][the site]] and the
=pack= command.

* TODO [#A] Packing :work:
:PROPERTIES:
:CUSTOM_ID: packing
:END:

- Gift notes lie on top.
- Invoices are
  never packed.

** Fragile goods [1/2]

WARNING: Use foam.

Twice for glass.

Run it:

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

export const tool = {
  name: 'pack',
}

It binds **every** shift; see [the rules](rules){/* soon */}, [the site](https://x.example){' '}and the
`pack` command.

## Packing

- Gift notes lie on top.
- Invoices are
  never packed.

### Fragile goods

<Warning
  icon={<Icon />}
  title=\"WARNING\">
    Use foam.

    Twice for glass.
</Warning>

Run it:

<Tabs>
  <Tab label=\"Shell\">

    ```sh
    pack --foam
    pack --done
    ```
  </Tab>
</Tabs>

## Cut-off times

| Warehouse | Cut-off |
| --- | --- |
| Leipzig | 15:30 |
| Hobart | 13:00 |
";

#[test]
fn markup_languages_yield_the_same_document() {
    for (extension, format, text) in [
        ("rst", Format::Rst, RST),
        ("adoc", Format::AsciiDoc, ASCIIDOC),
        ("org", Format::Org, ORG),
        ("mdx", Format::Mdx, MDX),
    ] {
        let document = load(extension, text);
        assert_eq!((document.format, document.title.as_str()), (format, "Warehouse handbook"));
        assert_eq!(document.metadata.get("author").map(String::as_str), Some("Ada Quill"), "{:?}", document.metadata);
        assert_eq!(document.tags, ["parcels", "carriers"], "{extension}");
        let names: Vec<String> =
            document.sections.iter().map(prospector_documents::model::Section::full_name).collect();
        let expected = ["Warehouse handbook", "Packing", "Packing > Fragile goods", "Cut-off times"];
        assert_eq!(names, expected, "{}", document.content);
        let text = |section: &str| {
            let plain = document.section(section).unwrap().text.replace(['*', '\n'], " ");
            plain
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .replace("](rules)", "")
                .replace("](https://x.example)", "")
        };
        let first = text("Warehouse handbook").replace(['['], "");
        assert_eq!(first, "It binds every shift; see the rules, the site and the `pack` command.", "{extension}");
        assert_eq!(text("Packing"), "- Gift notes lie on top. - Invoices are never packed.", "{extension}");
        let fragile = text("Fragile goods").to_lowercase().replace("shell: ", "");
        assert!(fragile.starts_with("warning: use foam. twice for glass. run it: ```"), "{extension}: {fragile}");
        let code = &document.section("Fragile goods").unwrap().text;
        assert!(code.contains("\npack --foam\npack --done\n```"), "{extension}: {code}");
        let table = "| Warehouse | Cut-off |\n| --- | --- |\n| Leipzig | 15:30 |\n| Hobart | 13:00 |";
        assert_eq!(document.section("Cut-off times").unwrap().text, table, "{extension}");
    }
}

#[test]
fn restructured_text_keeps_text_of_markup() {
    let check = |text: &str, expected: &str| check(Format::Rst, text, expected);
    check(
        "See :py:func:`~a.b.c`, :rfc:`2616` and `x`_, word_ but not snake_case.",
        "See c, RFC 2616 and x, word but not snake_case.",
    );
    check("|v| and |w|\n\n.. |v| replace:: 1.2", "1.2 and w");
    check("term\n   Its meaning.\n\nOther\n\n  quoted", "term: Its meaning.\n\nOther\n\nquoted");
    check(".. note::\n   One.\n\n   Two.", "Note: One.\n\nTwo.");
    check(".. code-block:: python\n   :linenos:\n\n   a = 1", "```python\na = 1\n```");
    check(
        ".. list-table:: T\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2",
        "T\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
    );
    check("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+", "| a | b |\n| --- | --- |\n| 1 | 2 3 |");
    check("1. one\n\n   more\n2. two\n\n.. a comment\n   of two lines", "1. one\n\nmore\n\n2. two");
    check("A\n#\nB\n*****\n\n----\n\n# not a heading", "A # B *****\n\n\\# not a heading");
}

#[test]
fn asciidoc_keeps_text_of_markup() {
    let check = |text: &str, expected: &str| check(Format::AsciiDoc, text, expected);
    check(
        "Press kbd:[F1] or link:a.html[*here*]footnote:[Twice.]. {nbsp}[.red]#Red# ((term))",
        "Press F1 or *here* (Twice.). Red term",
    );
    check("* a\n** b\n. c", "- a\n   - b\n\n1. c".replace("\n\n1.", "\n1.").as_str());
    check("term:: Its meaning.\n\n////\nno\n////\n\nimage::a.png[A chart]", "term: Its meaning.\n\nA chart");
    check("Old\n---\n\nTitle\n-----\n\nText\n\n....\nas is\n....", "Old ---\n\n## Title\n\nText\n\n```\nas is\n```");
    check(",===\na,b\n1,2\n,===", "| a | b |\n| --- | --- |\n| 1 | 2 |");
}

#[test]
fn org_keeps_text_of_markup() {
    let check = |text: &str, expected: &str| check(Format::Org, text, expected);
    check("- a :: b\n  - [ ] c\n1) d", "- a: b\n   - [ ] c\n1. d");
    check(": as\n: is\n# no\n#+RESULTS:\n\nx = y and a ~b~.", "```\nas\nis\n```\n\nx = y and a `b`.");
    check("#+begin_quote\nSaid.\n#+end_quote\n#+begin_comment\nno\n#+end_comment", "Said.");
    check("* DONE\n*bold* text", "# DONE\n\n**bold** text");
}

#[test]
fn mdx_keeps_prose_and_line_numbers() {
    let check = |text: &str, expected: &str| check(Format::Mdx, text, expected);
    check(
        "# A {#a}\n\nimport taxes are high.\n\n1 < 2 {x} `<B/>`",
        "# A {#a}\n\nimport taxes are high.\n\n1 < 2  `<B/>`",
    );
    check("<A>\n  - one\n    - two\n</A>\n\n<B title=\"T\" />{`t`}", "\n- one\n  - two\n\n\nTt");
    check("a <b\n\n{ never closed\n\n```jsx\n<A>{x}</A>\n```", "a <b\n\n{ never closed\n\n```jsx\n<A>{x}</A>\n```");
    let document = load("mdx", "---\ntitle: T\n---\nimport A from 'a'\n\n<A\n  b\n/>\n\n## Here\n\nText");
    let section = document.section("Here").unwrap();
    assert_eq!((section.line, section.text.as_str()), (10, "Text"));
}

const LANGUAGES: [Format; 4] = [Format::Mdx, Format::Rst, Format::AsciiDoc, Format::Org];

#[test]
fn readers_do_not_panic() {
    let samples =
        [RST, ASCIIDOC, ORG, MDX, "é|`_[{<(+*=~é\n\u{a0}\u{3000}- ü\n\t* ö::\n:é: ü\n.. é::\n   é\n|===\né|é\n"];
    let mut seed = 88_172_645_463_325_252_u64;
    println!("seed {seed}");
    for sample in samples {
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
            LANGUAGES.iter().for_each(|format| drop(parse("x", text.as_bytes(), *format)));
        }
    }
}

#[test]
fn run_time_is_linear() {
    let signs = [
        "[",
        "[[",
        "{",
        "<",
        "<a ",
        "`",
        "``",
        "_",
        "|",
        "|a|",
        "((",
        "+++",
        "a::\n",
        "a\n b\n",
        "- a\n",
        "  ",
        "\t- a\n",
        "*",
        "* a\n",
        ":a:\n",
        ": a\n",
        "|a\n",
        "= =\nx\n\n",
        "+-+\n",
        "#+begin_src\n",
        "#+begin_src\n#+end_x\n",
        "----\n",
        "|===\n",
        ".. a::\n",
        ".. |a| replace:: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n|a|\n",
        ":a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n{a}\n",
        "<a {",
        "<a \"",
        "import {\n",
        "import {\n\n",
        "<!--",
        "\\",
        "a[b]",
        "*a",
        "=a",
        "\n",
        "a <<",
        "(((",
        "{{",
        "\"{",
    ];
    for sign in signs {
        let text = sign.repeat(200_000 / sign.len());
        for format in LANGUAGES {
            let started = Instant::now();
            let (converted, _) = parse("x", text.as_bytes(), format);
            assert!(started.elapsed() < Duration::from_secs(10), "{sign:?} as {format:?}: {:?}", started.elapsed());
            assert!(converted.text.len() < 8 << 20, "{sign:?} as {format:?}: {}", converted.text.len());
        }
    }
}
