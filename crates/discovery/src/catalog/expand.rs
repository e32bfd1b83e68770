//! Paths of the catalog: values from the environment, and globs.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

/// Looks a name up in the environment; the binary decides what that is.
pub type Environment<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// Replaces each `${NAME}` by its value. The error names what is not set.
pub(super) fn environment(text: &str, lookup: Environment<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let Some(length) = rest[start..].find('}') else {
            return Err("`${` has no closing `}`".into());
        };
        let name = &rest[start + 2..start + length];
        let Some(value) = lookup(name) else {
            return Err(format!("the environment variable `{name}` is not set"));
        };
        out.push_str(&value);
        rest = &rest[start + length + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The same for a URL: a value that is part of the user or the password is encoded, whatever letters it has. One that is
/// the whole URL, or stands behind the `@`, is taken as it is.
pub(super) fn url_environment(url: &str, lookup: Environment<'_>) -> Result<String, String> {
    let (Some(scheme), Some(at)) = (url.find("://"), url.rfind('@')) else { return environment(url, lookup) };
    if scheme > at {
        return environment(url, lookup);
    }
    let encoded = |name: &str| lookup(name).map(|value| encoded(&value));
    let (user, rest) = url[scheme + 3..].split_at(at - scheme - 3);
    Ok(format!("{}{}{}", &url[..scheme + 3], environment(user, &encoded)?, environment(rest, lookup)?))
}

/// Any letters as a part of a URL.
fn encoded(text: &str) -> String {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if letters(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

/// A URL of DynamoDB without a key, with the key of the environment where there is one, as other programs take it.
pub(super) fn with_key(url: String, lookup: Environment<'_>) -> String {
    let Some(rest) = url.strip_prefix("dynamodb://").filter(|rest| !rest.contains('@')) else { return url };
    let (Some(id), Some(secret)) = (lookup("AWS_ACCESS_KEY_ID"), lookup("AWS_SECRET_ACCESS_KEY")) else { return url };
    let mark = if rest.contains('?') { '&' } else { '?' };
    let token = lookup("AWS_SESSION_TOKEN").map(|token| format!("{mark}session_token={}", encoded(&token)));
    format!("dynamodb://{}:{}@{rest}{}", encoded(&id), encoded(&secret), token.unwrap_or_default())
}

/// Whether a path holds wildcards.
pub(super) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// The files that match a pattern, sorted. `*` stays within one folder, `**` goes through all. Symbolic links that lead
/// out of the fixed part of the pattern are not followed.
pub(super) fn glob(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let joined = base.join(pattern);
    let mut root = PathBuf::new();
    for component in joined.components() {
        if matches!(component, Component::Normal(part) if is_glob(&part.to_string_lossy())) {
            break;
        }
        root.push(component);
    }
    let relative = joined.strip_prefix(&root).map_err(|error| error.to_string())?.to_string_lossy().into_owned();
    let matcher = GlobBuilder::new(&relative)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("the pattern is wrong: {}", error.kind()))?
        .compile_matcher();
    let depth = if relative.contains("**") { usize::MAX } else { Path::new(&relative).components().count() };
    let home = root.canonicalize().map_err(|error| format!("cannot read {}: {error}", root.display()))?;
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(&root)
        .max_depth(depth)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.strip_prefix(&root).is_ok_and(|relative| matcher.is_match(relative)))
        .filter(|path| path.is_file() && path.canonicalize().is_ok_and(|real| real.starts_with(&home)))
        .collect();
    files.sort();
    Ok(files)
}

/// One name for each file: the stem, or the folder's name where stems repeat (`imdb/schema.sql` is `imdb`), or both.
pub(super) fn names(files: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = |path: &Path| {
        path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let unique = |names: &[String]| {
        let mut seen = std::collections::HashSet::new();
        names.iter().all(|name| seen.insert(name.to_lowercase()))
    };
    let stems: Vec<String> = files.iter().map(|path| stem(path)).collect();
    if unique(&stems) {
        return stems;
    }
    let folders: Vec<String> = files.iter().map(|path| folder(path)).collect();
    if unique(&folders) {
        return folders;
    }
    files.iter().map(|path| format!("{}_{}", folder(path), stem(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_the_environment_and_missing_ones_are_named() {
        let lookup = |name: &str| (name == "DATA").then(|| "/data".to_owned());
        assert_eq!(environment("${DATA}/x.csv", &lookup).unwrap(), "/data/x.csv");
        assert_eq!(environment("plain $5", &lookup).unwrap(), "plain $5");
        assert_eq!(environment("${NOPE}", &lookup).unwrap_err(), "the environment variable `NOPE` is not set");
        assert!(environment("${DATA", &lookup).is_err());
    }

    #[test]
    fn a_url_of_dynamodb_without_a_key_gets_that_of_the_environment() {
        let lookup = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIA".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("a/b+c".to_owned()),
            "AWS_SESSION_TOKEN" => Some("x=".to_owned()),
            _ => None,
        };
        let check = |url: &str, expected: &str| assert_eq!(with_key(url.to_owned(), &lookup), expected);
        check("dynamodb://eu-north-1", "dynamodb://AKIA:a%2Fb%2Bc@eu-north-1?session_token=x%3D");
        check("dynamodb://k:s@eu-north-1", "dynamodb://k:s@eu-north-1");
        check("mongodb://db/crm", "mongodb://db/crm");
        assert_eq!(with_key("dynamodb://x?endpoint=y".into(), &|_| None), "dynamodb://x?endpoint=y");
    }

    #[test]
    fn a_glob_matches_within_one_folder_and_through_all() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/one.csv", "a/two.csv", "a/deep/three.csv", "a/note.txt"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, expected: &[&str]| {
            let found = glob(folder.path(), pattern).unwrap();
            let found: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>(), "{pattern}");
        };
        check("a/*.csv", &["a/one.csv", "a/two.csv"]);
        check("a/**/*.csv", &["a/deep/three.csv", "a/one.csv", "a/two.csv"]);
        check("*/{one,note}.*", &["a/note.txt", "a/one.csv"]);
        check("b*/*.csv", &[]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.csv"), "").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.csv"), folder.path().join("link.csv")).unwrap();
        assert!(glob(folder.path(), "*.csv").unwrap().is_empty());
    }

    #[test]
    fn repeated_stems_are_named_after_their_folders() {
        let check = |files: &[&str], expected: &[&str]| {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(names(&files), expected);
        };
        check(&["x/a.sql", "x/b.sql"], &["a", "b"]);
        check(&["x/schema.sql", "y/schema.sql"], &["x", "y"]);
        check(&["x/a.sql", "x/b.sql", "y/a.sql"], &["x_a", "x_b", "y_a"]);
    }
}
