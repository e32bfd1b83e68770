//! Content types: whether one is accepted, and what a file of it is called.

/// The type alone, in small letters, without parameters.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a type is one of these: `text/html`, `text/*`, `application/*+json`, `*/*`.
pub(crate) fn is_accepted(essence: &str, accept: &[String]) -> bool {
    accept.iter().any(|pattern| match pattern.split_once('*') {
        None => essence == pattern,
        Some(("", _)) => true,
        Some((start, end)) => essence.starts_with(start) && essence[start.len()..].ends_with(end),
    })
}

/// What a file of this type is called, told from the path of the URL where the type says too little.
pub(crate) fn extension(content_type: &str, path: &str) -> String {
    let known = match essence(content_type).as_str() {
        "text/markdown" | "text/x-markdown" => "md",
        "text/mdx" => "mdx",
        "text/x-rst" | "text/prs.fallenstein.rst" => "rst",
        "text/asciidoc" | "text/x-asciidoc" => "adoc",
        "text/org" | "text/x-org" => "org",
        "text/html" => "html",
        "application/xhtml+xml" => "xhtml",
        "application/pdf" => "pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => "pptx",
        "application/json" => "json",
        "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => "yaml",
        other if other.ends_with("+json") => "json",
        other if other.ends_with("+yaml") => "yaml",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let written = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let usable = (1..=8).contains(&written.len()) && written.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if usable { written.to_ascii_lowercase() } else { "txt".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_accepted_by_name_or_pattern() {
        let check = |content_type: &str, pattern: &str, expected: bool| {
            assert_eq!(
                is_accepted(&essence(content_type), &[pattern.to_owned()]),
                expected,
                "{content_type} {pattern}"
            );
        };
        check("Text/HTML; charset=utf-8", "text/html", true);
        check("text/html", "text/*", true);
        check("application/problem+json", "application/*+json", true);
        check("application/json", "application/*+json", false);
        check("image/png", "text/*", false);
        check("image/png", "*/*", true);
        check("", "text/*", false);
    }

    #[test]
    fn the_extension_comes_from_the_type_and_else_from_the_path() {
        let check = |content_type: &str, path: &str, expected: &str| {
            assert_eq!(extension(content_type, path), expected, "{content_type} {path}");
        };
        check("text/html; charset=utf-8", "/a.php", "html");
        check("text/plain", "/docs/rules.MD", "md");
        check("application/octet-stream", "/a/report.pdf", "pdf");
        check("application/vnd.oai.openapi+json;version=3.1", "/spec", "json");
        check("text/plain", "/v1.2/readme", "txt");
        check("text/plain", "/x.tar~/../y.a/b", "txt");
        check("text/plain", "/x.a-b", "txt");
    }
}
