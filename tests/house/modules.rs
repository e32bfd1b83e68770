//! Module cycles: siblings that depend on each other, directly or through others, including their submodules.
//! A module and its submodules may use each other. Dependencies are between children of the same module, including their submodules;
//! re-exported names are resolved to their definitions.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Module, Source};

type Path = Vec<String>;

/// Returns the cycles among the modules of a crate, as full names.
pub(crate) fn circles<'a>(sources: impl Iterator<Item = &'a Source>) -> Vec<Vec<String>> {
    let modules: BTreeMap<Path, &Module> =
        sources.flat_map(|source| &source.modules).map(|module| (module.path.clone(), module)).collect();
    let mut arrows: BTreeMap<Path, BTreeSet<(String, String)>> = BTreeMap::new();
    for (from, module) in &modules {
        let used = module.uses.iter().map(|(_, path)| path).chain(&module.mentions);
        for path in used {
            let Some(to) = absolute(&modules, from, path).map(|path| defined_at(&modules, &path, 0)) else { continue };
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                arrows.entry(from[..shared].to_vec()).or_default().insert((a.clone(), b.clone()));
            }
        }
    }
    arrows.into_iter().flat_map(|(parent, arrows)| circles_of(&parent, &arrows)).collect()
}

/// Resolves a path from the root of the crate; `None` for a path into another crate.
fn absolute(modules: &BTreeMap<Path, &Module>, from: &[String], path: &[String]) -> Option<Path> {
    let mut base = from.to_vec();
    let mut rest = path;
    while let Some(first) = rest.first() {
        match first.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => drop(base.pop()),
            _ => break,
        }
        rest = &rest[1..];
    }
    let whole = [&base, rest].concat();
    let is_here = rest.len() < path.len()
        || rest.first().is_some_and(|first| modules.contains_key(&[&base[..], std::slice::from_ref(first)].concat()));
    is_here.then_some(whole)
}

/// Returns the module of a path, after resolving re-exports.
fn defined_at(modules: &BTreeMap<Path, &Module>, path: &[String], depth: usize) -> Path {
    let mut here: Path = Vec::new();
    for (at, part) in path.iter().enumerate() {
        let inner = [&here[..], std::slice::from_ref(part)].concat();
        if modules.contains_key(&inner) {
            here = inner;
            continue;
        }
        let uses = modules.get(&here).map(|module| module.uses.as_slice()).unwrap_or_default();
        let next = uses.iter().find(|(name, _)| name == part).and_then(|(_, used)| absolute(modules, &here, used));
        if let Some(next) = next.filter(|_| depth < 8) {
            let rest = [&next[..], &path[at + 1..]].concat();
            if rest != path {
                return defined_at(modules, &rest, depth + 1);
            }
        }
        break;
    }
    here
}

/// Returns the strongly connected components of at least two nodes.
fn circles_of(parent: &[String], arrows: &BTreeSet<(String, String)>) -> Vec<Vec<String>> {
    let names: BTreeSet<&String> = arrows.iter().flat_map(|(a, b)| [a, b]).collect();
    let reached = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut next = vec![start];
        while let Some(name) = next.pop() {
            for (_, to) in arrows.iter().filter(|(from, _)| from == name) {
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> = names.iter().map(|name| (*name, reached(name))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for name in &names {
        let group = names.iter().filter(|other| reach[*name].contains(**other) && reach[**other].contains(*name));
        let group: Vec<String> =
            group.map(|other| [parent, std::slice::from_ref(*other)].concat().join("::")).collect();
        if group.len() > 1 {
            found.insert(group);
        }
    }
    found.into_iter().collect()
}
