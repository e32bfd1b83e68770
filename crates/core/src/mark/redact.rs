//! Redacts error messages for clients of a server: file paths, addresses, hosts and accounts. The operator finds the full message in the
//! log.

use std::{borrow::Cow, fmt, net::IpAddr, net::SocketAddr, sync::Arc};

/// The placeholders of redacted text.
const PATH: &str = "[path]";
const ADDRESS: &str = "[address]";
const HOST: &str = "[host]";
const USER: &str = "[user]";

/// After an HTTP method, a path is a route and not a file.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Receives each message that is redacted.
type Log = dyn Fn(&str) + Send + Sync;

/// Redacts absolute paths, paths that start with a dot, URLs and IP addresses, and known paths, hosts and accounts.
#[derive(Clone, Default)]
pub struct Redactor {
    paths: Vec<String>,
    hosts: Vec<String>,
    users: Vec<String>,
    log: Option<Arc<Log>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Creates a redactor without known names.
    pub fn new() -> Self {
        Redactor::default()
    }

    /// Passes the original of each redacted message to a log.
    pub fn with_log(mut self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Also redacts this path, and paths below it.
    pub fn hide_path(&mut self, path: &str) {
        add(&mut self.paths, path.trim_start_matches("./").trim_end_matches('/'));
    }

    /// Also redacts the host and the account of a URL.
    pub fn hide_url(&mut self, url: &str) {
        let Some((_, rest)) = url.split_once("://") else { return };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (account, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        add(&mut self.users, account.split(':').next().unwrap_or_default());
        for host in hosts.split(',') {
            add(&mut self.hosts, host.rsplit_once(':').map_or(host, |(host, _)| host));
        }
    }

    /// Returns the message for clients.
    pub fn redact<'t>(&self, message: &'t str) -> Cow<'t, str> {
        let mut shown = String::new();
        let mut at = 0;
        let mut is_changed = false;
        while at < message.len() {
            let Some(start) = next_token(message, at) else { break };
            shown.push_str(&message[at..start]);
            let (end, hidden) = self.hide(message, start);
            shown.push_str(hidden.unwrap_or(&message[start..end]));
            is_changed |= hidden.is_some();
            at = end;
        }
        if !is_changed {
            return Cow::Borrowed(message);
        }
        shown.push_str(&message[at..]);
        if let Some(log) = &self.log {
            log(message);
        }
        Cow::Owned(shown)
    }

    /// Returns the end of the token that starts here, and its placeholder, if it is redacted.
    fn hide(&self, message: &str, start: usize) -> (usize, Option<&'static str>) {
        let rest = &message[start..];
        let quote = message[..start].chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`'));
        // A quoted path may contain spaces; otherwise it ends with the word.
        let word = match rest.find(|c: char| c.is_whitespace() || is_delimiter(c)) {
            Some(end) => &rest[..end],
            None => rest,
        };
        let word = word.trim_end_matches(['.', ':', ';', '!']);
        if word.is_empty() {
            return (start + rest.chars().next().map_or(1, char::len_utf8), None);
        }
        let end = start + word.len();
        if is_url(word) || is_address(word) {
            return (end, Some(ADDRESS));
        }
        if self.is_path(word, &message[..start]) {
            let quoted = quote.and_then(|quote| Some(start + rest.find(quote)?));
            return (quoted.unwrap_or(end), Some(PATH));
        }
        if self.users.iter().any(|user| user == word) && (quote.is_some() || follows(message, start, &["user", "role"]))
        {
            return (end, Some(USER));
        }
        let host = word.rsplit_once(':').map_or(word, |(host, _)| host);
        if self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
            return (end, Some(HOST));
        }
        (end, None)
    }

    fn is_path(&self, word: &str, before: &str) -> bool {
        let is_route = METHODS.iter().any(|method| before.trim_end().ends_with(method));
        let is_absolute = word.starts_with('/') && word[1..].contains('/') && !word.contains('{') && !is_route;
        let is_relative = ["./", "../", "~/"].iter().any(|start| word.len() > start.len() && word.starts_with(start));
        is_absolute
            || is_relative
            || self.paths.iter().any(|path| {
                // A folder may have any name: on its own, it is not recognizable as a path.
                let ends = if path.contains(['/', '.']) { &['/', ':'][..] } else { &['/'] };
                let rest = word.strip_prefix(path.as_str());
                rest.is_some_and(|rest| rest.is_empty() && ends.len() > 1 || rest.starts_with(ends))
            })
    }
}

fn add(known: &mut Vec<String>, text: &str) {
    if !text.is_empty() && text != "." && !known.iter().any(|other| other == text) {
        known.push(text.to_owned());
    }
}

/// Returns the start of the next word.
fn next_token(message: &str, at: usize) -> Option<usize> {
    message[at..].find(|c: char| !c.is_whitespace() && !is_delimiter(c)).map(|start| at + start)
}

/// Returns whether a character ends a word and is not part of paths or URLs.
fn is_delimiter(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '<' | '>' | '(' | ')' | ',' | '|' | '\u{2039}' | '\u{203a}' | '\u{201c}' | '\u{201d}'
    )
}

fn is_url(word: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    word.split_once("://").is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
}

fn is_address(word: &str) -> bool {
    // `@` separates an account and its host.
    let word = word.rsplit('@').next().unwrap_or(word);
    let bare = word.trim_start_matches('[').trim_end_matches(']');
    let is_ip =
        bare.parse::<IpAddr>().is_ok_and(|address| address.is_ipv4() || bare.contains(|c: char| c.is_ascii_digit()));
    is_ip || word.parse::<SocketAddr>().is_ok()
}

/// Returns whether the text at `start` follows one of these words.
fn follows(message: &str, start: usize, words: &[&str]) -> bool {
    let before = message[..start].trim_end().to_ascii_lowercase();
    words.iter().any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn redactor() -> Redactor {
        let mut redactor = Redactor::new();
        redactor.hide_url("postgres://reader@db.internal:5432/shop?sslmode=require");
        redactor.hide_url("mongodb://app:secret@one.internal:27017,two.internal/shop");
        redactor.hide_path("catalog/files");
        redactor.hide_path("./orders.csv");
        redactor.hide_path("data/");
        redactor
    }

    #[test]
    fn hides_paths_addresses_hosts_and_accounts() {
        for (message, expected) in [
            (
                "cannot open csv /srv/shop/data/orders.csv: No such file or directory (os error 2)",
                "cannot open csv [path]: No such file or directory (os error 2)",
            ),
            ("cannot open csv catalog/files/orders.csv: gone", "cannot open csv [path]: gone"),
            ("cannot open csv ./catalog/files: gone", "cannot open csv [path]: gone"),
            ("orders.csv:3: 2 rows have fewer fields", "[path]: 2 rows have fewer fields"),
            ("cannot read `/srv/my data/a.csv`", "cannot read `[path]`"),
            ("(/home/ada/x.md)", "([path])"),
            ("cannot read ./a.csv, ../b/c.csv, ~/d and data/e.csv", "cannot read [path], [path], [path] and [path]"),
            (
                "cannot connect to postgres://reader@db.internal:5432/shop: password authentication failed for user \"reader\"",
                "cannot connect to [address]: password authentication failed for user \"[user]\"",
            ),
            (
                "no pg_hba.conf entry for host \"172.17.0.3\", user \"reader\", database \"shop\", no encryption",
                "no pg_hba.conf entry for host \"[address]\", user \"[user]\", database \"shop\", no encryption",
            ),
            (
                "Access denied for user 'app'@'10.0.0.7' (using password: YES)",
                "Access denied for user '[user]'@'[address]' (using password: YES)",
            ),
            ("role reader does not exist", "role [user] does not exist"),
            ("two.internal:27017 did not answer; one.internal.", "[host] did not answer; [host]."),
            (
                "tcp connect to [::1]:5432, 127.0.0.1:80 and fe80::1 failed",
                "tcp connect to [address], [address] and [address] failed",
            ),
            (
                "error sending request for url (http://localhost:11434/api/chat)",
                "error sending request for url ([address])",
            ),
            ("reader@10.0.0.7 was refused", "[address] was refused"),
        ] {
            assert_eq!(redactor().redact(message), expected);
        }
    }

    #[test]
    fn leaves_other_text_unchanged() {
        for message in [
            "",
            "unknown column `amnt` in `shop.orders`; did you mean `amount`?",
            "there is no operation `GET /orders/{order_id}`",
            "GET /orders/items answered 404",
            "a/b and 1/2 are not paths; / is division",
            "CAST(x AS bigint) or x::int, at 12:30:45",
            "relation \"reader_view\" does not exist",
            "value of 9223372036854775808 is out of range Int64",
            "catalog/filesystem is another folder",
            "data is a word, and data: too",
            "the readers of 'orders'",
            "größer als ‹data›, \u{1F600}",
        ] {
            assert!(matches!(redactor().redact(message), Cow::Borrowed(same) if same == message), "{message}");
        }
    }

    #[test]
    fn logs_the_original_message_once() {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = log.clone();
        let redactor = redactor().with_log(move |message| kept.lock().unwrap().push(message.to_owned()));
        redactor.redact("cannot read /srv/a/b and /srv/a/c");
        redactor.redact("nothing to hide");
        assert_eq!(*log.lock().unwrap(), ["cannot read /srv/a/b and /srv/a/c"]);
    }
}
