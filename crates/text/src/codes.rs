//! Names of countries and currencies, and their codes in data (ISO 3166-1 alpha-2, ISO 4217).

/// A code per line, with the lower-case names of the country in seven languages, and its English adjectives. `English` is omitted, as it often denotes
/// the language.
const COUNTRIES: &str = include_str!("countries.txt");

/// A code per line, with the lower-case names of the currency.
const CURRENCIES: &str = include_str!("currencies.txt");

fn entries(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(|line| line.split_once(' '))
}

fn find(table: &'static str, name: &str) -> Option<&'static str> {
    entries(table).find(|(_, names)| names.split(", ").any(|known| known == name)).map(|(code, _)| code)
}

/// Returns the code of a country by its lower-case name in English or one of six other languages, of up to three words, or by its English
/// adjective.
///
/// ```
/// use prospector_text::codes::find_country;
///
/// assert_eq!([find_country("germany"), find_country("german")], [Some("DE"), Some("DE")]);
/// assert_eq!((find_country("united states"), find_country("united")), (Some("US"), None));
/// assert_eq!([find_country("países bajos"), find_country("corée du sud")], [Some("NL"), Some("KR")]);
/// ```
pub fn find_country(name: &str) -> Option<&'static str> {
    find(COUNTRIES, name)
}

/// Returns whether a text is the code of a known currency, in capitals.
///
/// ```
/// use prospector_text::codes::is_currency_code;
///
/// assert!(is_currency_code("EUR") && !is_currency_code("eur") && !is_currency_code("VIP"));
/// ```
pub fn is_currency_code(text: &str) -> bool {
    entries(CURRENCIES).any(|(code, _)| code == text)
}

/// Returns the code of a currency by its lower-case English name.
pub fn find_currency(name: &str) -> Option<&'static str> {
    find(CURRENCIES, name)
}
