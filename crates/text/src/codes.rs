//! Names of countries and currencies, and their codes in data (ISO 3166-1 alpha-2, ISO 4217).

mod translated;

use translated::TRANSLATED;

const COUNTRIES: &[(&str, &str)] = &[
    ("argentina", "AR"),
    ("australia", "AU"),
    ("austria", "AT"),
    ("bangladesh", "BD"),
    ("belgium", "BE"),
    ("brazil", "BR"),
    ("bulgaria", "BG"),
    ("cameroon", "CM"),
    ("canada", "CA"),
    ("chile", "CL"),
    ("china", "CN"),
    ("colombia", "CO"),
    ("croatia", "HR"),
    ("czechia", "CZ"),
    ("denmark", "DK"),
    ("egypt", "EG"),
    ("estonia", "EE"),
    ("finland", "FI"),
    ("france", "FR"),
    ("germany", "DE"),
    ("greece", "GR"),
    ("hungary", "HU"),
    ("iceland", "IS"),
    ("india", "IN"),
    ("indonesia", "ID"),
    ("ireland", "IE"),
    ("israel", "IL"),
    ("italy", "IT"),
    ("japan", "JP"),
    ("kenya", "KE"),
    ("latvia", "LV"),
    ("lithuania", "LT"),
    ("luxembourg", "LU"),
    ("malaysia", "MY"),
    ("mexico", "MX"),
    ("morocco", "MA"),
    ("netherlands", "NL"),
    ("nigeria", "NG"),
    ("norway", "NO"),
    ("pakistan", "PK"),
    ("peru", "PE"),
    ("philippines", "PH"),
    ("poland", "PL"),
    ("portugal", "PT"),
    ("romania", "RO"),
    ("russia", "RU"),
    ("serbia", "RS"),
    ("singapore", "SG"),
    ("slovakia", "SK"),
    ("slovenia", "SI"),
    ("spain", "ES"),
    ("sweden", "SE"),
    ("switzerland", "CH"),
    ("thailand", "TH"),
    ("turkey", "TR"),
    ("ukraine", "UA"),
    ("uruguay", "UY"),
    ("vietnam", "VN"),
    ("britain", "GB"),
    ("england", "GB"),
    ("usa", "US"),
    ("america", "US"),
    ("uk", "GB"),
    ("united kingdom", "GB"),
    ("great britain", "GB"),
    ("united states", "US"),
    ("czech republic", "CZ"),
    ("south korea", "KR"),
    ("new zealand", "NZ"),
    ("south africa", "ZA"),
    ("saudi arabia", "SA"),
    ("costa rica", "CR"),
    ("hong kong", "HK"),
    ("sri lanka", "LK"),
    ("taiwan", "TW"),
    ("korea", "KR"),
    ("zealand", "NZ"),
];

/// Country adjectives. `English` is omitted, as it often denotes the language.
const ADJECTIVES: &[(&str, &str)] = &[
    ("argentine", "AR"),
    ("argentinian", "AR"),
    ("australian", "AU"),
    ("austrian", "AT"),
    ("bangladeshi", "BD"),
    ("belgian", "BE"),
    ("brazilian", "BR"),
    ("bulgarian", "BG"),
    ("canadian", "CA"),
    ("chilean", "CL"),
    ("chinese", "CN"),
    ("colombian", "CO"),
    ("croatian", "HR"),
    ("czech", "CZ"),
    ("danish", "DK"),
    ("egyptian", "EG"),
    ("estonian", "EE"),
    ("finnish", "FI"),
    ("french", "FR"),
    ("german", "DE"),
    ("greek", "GR"),
    ("hungarian", "HU"),
    ("icelandic", "IS"),
    ("indian", "IN"),
    ("indonesian", "ID"),
    ("irish", "IE"),
    ("israeli", "IL"),
    ("italian", "IT"),
    ("japanese", "JP"),
    ("kenyan", "KE"),
    ("latvian", "LV"),
    ("lithuanian", "LT"),
    ("malaysian", "MY"),
    ("mexican", "MX"),
    ("moroccan", "MA"),
    ("dutch", "NL"),
    ("nigerian", "NG"),
    ("norwegian", "NO"),
    ("pakistani", "PK"),
    ("peruvian", "PE"),
    ("filipino", "PH"),
    ("portuguese", "PT"),
    ("romanian", "RO"),
    ("russian", "RU"),
    ("serbian", "RS"),
    ("singaporean", "SG"),
    ("slovak", "SK"),
    ("slovenian", "SI"),
    ("spanish", "ES"),
    ("swedish", "SE"),
    ("swiss", "CH"),
    ("taiwanese", "TW"),
    ("thai", "TH"),
    ("turkish", "TR"),
    ("ukrainian", "UA"),
    ("vietnamese", "VN"),
    ("british", "GB"),
    ("american", "US"),
    ("korean", "KR"),
];

const CURRENCIES: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("yen", "JPY"),
    ("yuan", "CNY"),
    ("renminbi", "CNY"),
    ("rupee", "INR"),
    ("rupees", "INR"),
    ("franc", "CHF"),
    ("francs", "CHF"),
    ("krona", "SEK"),
    ("krone", "NOK"),
    ("zloty", "PLN"),
    ("forint", "HUF"),
    ("real", "BRL"),
    ("reais", "BRL"),
    ("peso", "MXN"),
    ("pesos", "MXN"),
    ("rand", "ZAR"),
    ("lira", "TRY"),
    ("won", "KRW"),
    ("shekel", "ILS"),
];

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
    let of_english = || COUNTRIES.iter().chain(ADJECTIVES).find(|(known, _)| *known == name).map(|(_, code)| *code);
    let of_others = || TRANSLATED.iter().find(|(_, names)| names.contains(&name)).map(|(code, _)| *code);
    of_english().or_else(of_others)
}

/// Returns whether a text is the code of a known currency, in capitals.
///
/// ```
/// use prospector_text::codes::is_currency_code;
///
/// assert!(is_currency_code("EUR") && !is_currency_code("eur") && !is_currency_code("VIP"));
/// ```
pub fn is_currency_code(text: &str) -> bool {
    CURRENCIES.iter().any(|(_, code)| *code == text)
}

/// Returns the code of a currency by its lower-case English name.
pub fn find_currency(name: &str) -> Option<&'static str> {
    CURRENCIES.iter().find(|(known, _)| *known == name).map(|(_, code)| *code)
}
