//! Content types: matching, and file extensions.

/// Returns the type in lower case, without parameters.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns whether a type matches one of these: `text/html`, `text/*`, `application/*+json`, `*/*`.
pub(crate) fn is_accepted(essence: &str, accept: &[String]) -> bool {
    accept.iter().any(|pattern| match pattern.split_once('*') {
        None => essence == pattern,
        Some(("", _)) => true,
        Some((start, end)) => essence.starts_with(start) && essence[start.len()..].ends_with(end),
    })
}

/// Returns the file extension of a type, or that of the URL path if the type is too general.
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
    fn matches_types_by_name_or_pattern() {
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
    fn derives_the_extension_from_type_or_path() {
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
