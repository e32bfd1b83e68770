//! Parses each Rust file once, and extracts the data that the rules need.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, Lit, UseTree, Visibility, spanned::Spanned, visit::Visit};

/// One Rust file. Everything found in test code (folders `tests`, files `tests.rs`, `#[cfg(test)]`, the crate `test-support`) is marked as
/// such.
pub(crate) struct Source {
    /// Relative to the root of the project.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// Whether the whole file is test code.
    pub(crate) is_test: bool,
    pub(crate) functions: Vec<Function>,
    /// Constants and statics.
    pub(crate) constants: Vec<Name>,
    /// Structs, enums, traits and type aliases.
    pub(crate) types: Vec<Name>,
    /// String literals outside of attributes and tests, including those in macros.
    pub(crate) literals: Vec<Name>,
    /// The `NAME`s of implementations of `Tool`.
    pub(crate) tools: Vec<String>,
    /// Locations of the type `Result<_, String>`.
    pub(crate) string_errors: Vec<usize>,
    /// Loops in tests that sleep, in functions without a time limit.
    pub(crate) endless_waits: Vec<usize>,
    /// The public names of the file, if it is the root of a crate.
    pub(crate) exports: Vec<String>,
    /// The modules of this file: the file itself first, then inline modules, without tests.
    pub(crate) modules: Vec<Module>,
}

pub(crate) struct Name {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) is_test: bool,
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// From the line of `fn` to that of the closing brace.
    pub(crate) lines: usize,
    pub(crate) is_test: bool,
    /// Whether its name is given by a trait.
    pub(crate) is_of_trait: bool,
}

/// A module and the paths in it, as written: `["crate", "a", "B"]`.
#[derive(Default)]
pub(crate) struct Module {
    /// From the root of its crate.
    pub(crate) path: Vec<String>,
    /// The names imported by `use`, each with its path; `*` for a glob.
    pub(crate) uses: Vec<(String, Vec<String>)>,
    /// Paths in code that start with `crate`, `self` or `super`.
    pub(crate) mentions: Vec<Vec<String>>,
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every Rust file of the project, sorted by path.
pub(crate) fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let mut paths = BTreeSet::new();
        let mut folders: Vec<PathBuf> = ["crates", "bin", "tests", "benches"].map(|name| root().join(name)).into();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() && entry.file_name() != "target" {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    paths.insert(path);
                }
            }
        }
        assert!(paths.len() > 50, "the sources were not found");
        paths.iter().map(|path| read(path)).collect()
    })
}

impl Source {
    /// The crate that it belongs to; `bin`, `tests` or `benches` for the rest.
    pub(crate) fn krate(&self) -> &str {
        let mut parts = self.path.iter().filter_map(|part| part.to_str());
        match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            other => other.unwrap_or_default(),
        }
    }
}

fn read(path: &Path) -> Source {
    let text = fs::read_to_string(path).unwrap();
    let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let path = path.strip_prefix(root()).unwrap().to_owned();
    let is_test = path
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches" | "fuzz" | "test-support")))
        || path.file_name().is_some_and(|name| name == "tests.rs");
    let modules = vec![Module { path: module_path(&path), ..Module::default() }];
    let is_root = path.ends_with("src/lib.rs");
    let exports = if is_root { syntax.items.iter().flat_map(exports_of).collect() } else { Vec::new() };
    let mut source = Source {
        path,
        text,
        is_test,
        functions: Vec::new(),
        constants: Vec::new(),
        types: Vec::new(),
        literals: Vec::new(),
        tools: Vec::new(),
        string_errors: Vec::new(),
        endless_waits: Vec::new(),
        exports,
        modules,
    };
    let mut reader = Reader { tests: usize::from(is_test), trait_impl: false, module: vec![0], source: &mut source };
    reader.visit_file(&syntax);
    source
}

/// `crates/x/src/a/b.rs` is `a::b`, `lib.rs` and `main.rs` are the root, `a/mod.rs` is `a`.
fn module_path(path: &Path) -> Vec<String> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let below = match parts.as_slice() {
        ["crates", _, "src", below @ ..] | ["bin", below @ ..] => below,
        other => other,
    };
    let mut module: Vec<String> = below.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
        module.pop();
    }
    module
}

/// Returns the names that an item of the root makes public.
fn exports_of(item: &Item) -> Vec<String> {
    let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
    let one = |vis: &Visibility, name: &syn::Ident| if public(vis) { vec![name.to_string()] } else { Vec::new() };
    match item {
        Item::Use(item) if public(&item.vis) => {
            let mut leaves = Vec::new();
            collect_uses(&item.tree, &mut Vec::new(), &mut leaves);
            leaves.into_iter().map(|(name, _)| name).collect()
        }
        Item::Mod(item) => one(&item.vis, &item.ident),
        Item::Fn(item) => one(&item.vis, &item.sig.ident),
        Item::Struct(item) => one(&item.vis, &item.ident),
        Item::Enum(item) => one(&item.vis, &item.ident),
        Item::Trait(item) => one(&item.vis, &item.ident),
        Item::Type(item) => one(&item.vis, &item.ident),
        Item::Const(item) => one(&item.vis, &item.ident),
        Item::Static(item) => one(&item.vis, &item.ident),
        _ => Vec::new(),
    }
}

/// Returns the leaves of a `use`: the name of each, and its path.
fn collect_uses(tree: &UseTree, before: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    let with = |before: &[String], name: String| [before, &[name]].concat();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            collect_uses(&path.tree, before, found);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            found.push((before.last().cloned().unwrap_or_default(), before.clone()));
        }
        UseTree::Name(name) => found.push((name.ident.to_string(), with(before, name.ident.to_string()))),
        UseTree::Rename(rename) => found.push((rename.rename.to_string(), with(before, rename.ident.to_string()))),
        UseTree::Glob(_) => found.push(("*".to_owned(), before.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect_uses(tree, before, found)),
    }
}

struct Reader<'a> {
    /// The number of enclosing items that are test code.
    tests: usize,
    trait_impl: bool,
    /// The enclosing modules, as indexes in `source.modules`.
    module: Vec<usize>,
    source: &'a mut Source,
}

impl Reader<'_> {
    fn name(&self, ident: &syn::Ident) -> Name {
        Name { name: ident.to_string(), line: ident.span().start().line, is_test: self.tests > 0 }
    }

    fn module(&mut self) -> &mut Module {
        let at = self.module.last().copied().unwrap_or_default();
        &mut self.source.modules[at]
    }

    fn function(&mut self, sig: &syn::Signature, block: &syn::Block, is_of_trait: bool) {
        let line = sig.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line + 1 - line;
        let Name { name, is_test, .. } = self.name(&sig.ident);
        self.source.functions.push(Function { name, line, lines, is_test, is_of_trait });
        if is_test {
            let words = words_of(&block.to_token_stream());
            let limits = ["timeout", "deadline", "elapsed", "Instant", "timeout_at"];
            if !limits.iter().any(|limit| words.contains(*limit)) {
                let mut waits = Waits::default();
                waits.visit_block(block);
                self.source.endless_waits.extend(waits.lines);
            }
        }
    }

    /// Reads a string literal, or the path of a name, in the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    let begins = ["crate", "self", "super"].iter().any(|word| ident == word);
                    if path.last().is_some_and(|last| last == "::") {
                        path.pop();
                        path.push(ident.to_string());
                    } else {
                        self.mention(std::mem::take(&mut path));
                        if begins {
                            path.push(ident.to_string());
                        }
                    }
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    if path.last().is_some_and(|last| last == ":") {
                        path.pop();
                        path.push("::".to_owned());
                    } else {
                        path.push(":".to_owned());
                    }
                    continue;
                }
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal.clone()) {
                        self.visit_lit_str(&text);
                    }
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) => {}
            }
            self.mention(std::mem::take(&mut path));
        }
        self.mention(path);
    }

    fn mention(&mut self, mut path: Vec<String>) {
        path.retain(|part| !part.starts_with(':'));
        if path.len() > 1 && self.tests == 0 {
            self.module().mentions.push(path);
        }
    }
}

/// Returns whether the item is compiled only for tests.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.meta.to_token_stream().to_string().replace(' ', "");
        text == "cfg(test)" || text.starts_with("cfg(all(test") || text == "test" || text.ends_with("::test")
    })
}

fn words_of(tokens: &TokenStream) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut rest = vec![tokens.clone()];
    while let Some(tokens) = rest.pop() {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => drop(words.insert(ident.to_string())),
                TokenTree::Group(group) => rest.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    words
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = is_for_tests(&item.attrs);
        self.tests += usize::from(is_test);
        if item.content.is_some() && !is_test {
            let path = [self.module().path.clone(), vec![item.ident.to_string()]].concat();
            self.source.modules.push(Module { path, ..Module::default() });
            self.module.push(self.source.modules.len() - 1);
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        } else {
            syn::visit::visit_item_mod(self, item);
        }
        self.tests -= usize::from(is_test);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if self.tests == 0 && !is_for_tests(&item.attrs) {
            let mut found = Vec::new();
            collect_uses(&item.tree, &mut Vec::new(), &mut found);
            self.module().uses.extend(found);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(parts[0].as_str(), "crate" | "self" | "super") {
            self.mention(parts);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_test = is_for_tests(&item.attrs);
        self.tests += usize::from(is_test);
        self.function(&item.sig, &item.block, false);
        syn::visit::visit_item_fn(self, item);
        self.tests -= usize::from(is_test);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block, self.trait_impl);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block, false);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_test = is_for_tests(&item.attrs);
        self.tests += usize::from(is_test);
        let before = std::mem::replace(&mut self.trait_impl, item.trait_.is_some());
        let of_tool = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if of_tool.is_some_and(|last| last.ident == "Tool") && self.tests == 0 {
            for member in &item.items {
                if let ImplItem::Const(member) = member
                    && member.ident == "NAME"
                    && let syn::Expr::Lit(syn::ExprLit { lit: Lit::Str(name), .. }) = &member.expr
                {
                    self.source.tools.push(name.value());
                }
            }
        }
        syn::visit::visit_item_impl(self, item);
        self.trait_impl = before;
        self.tests -= usize::from(is_test);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let name = self.name(&item.ident);
        self.source.constants.push(name);
        syn::visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        let name = self.name(&item.ident);
        self.source.constants.push(name);
        syn::visit::visit_impl_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        let name = self.name(&item.ident);
        self.source.constants.push(name);
        syn::visit::visit_item_static(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let name = self.name(&item.ident);
        self.source.types.push(name);
        syn::visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let name = self.name(&item.ident);
        self.source.types.push(name);
        syn::visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let name = self.name(&item.ident);
        self.source.types.push(name);
        syn::visit::visit_item_trait(self, item);
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        if self.tests == 0 {
            let line = text.span().start().line;
            self.source.literals.push(Name { name: text.value(), line, is_test: false });
        }
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        if self.tests == 0
            && let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result")
            && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = arguments.args.iter().nth(1)
            && error.path.is_ident("String")
        {
            self.source.string_errors.push(path.span().start().line);
        }
        syn::visit::visit_type_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
        syn::visit::visit_macro(self, item);
    }
}

/// Returns the sleeping loops of a function.
#[derive(Default)]
struct Waits {
    lines: Vec<usize>,
}

impl Waits {
    fn check(&mut self, body: &syn::Block, line: usize) {
        let tokens = body.to_token_stream();
        // A `?` ends loops that write until the peer closes the connection.
        let ends_by_error = tokens.to_string().contains('?');
        if words_of(&tokens).contains("sleep") && !ends_by_error {
            self.lines.push(line);
        }
    }
}

impl<'ast> Visit<'ast> for Waits {
    fn visit_expr_loop(&mut self, item: &'ast syn::ExprLoop) {
        self.check(&item.body, item.loop_token.span.start().line);
    }

    fn visit_expr_while(&mut self, item: &'ast syn::ExprWhile) {
        self.check(&item.body, item.while_token.span.start().line);
    }
}
