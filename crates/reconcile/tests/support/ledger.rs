//! Invoices and their payments, 95 of 100 with a partner, with deterministic noise.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

/// Both sides, and the true pairs.
pub(crate) struct Ledger {
    pub(crate) invoices: Vec<Invoice>,
    pub(crate) payments: Vec<Payment>,
    /// The payment of each invoice that has one.
    pub(crate) truth: BTreeMap<String, String>,
}

pub(crate) struct Invoice {
    pub(crate) id: String,
    pub(crate) customer: String,
    pub(crate) amount: f64,
    pub(crate) issued: String,
    pub(crate) reference: String,
}

/// A payment; `None` is a missing value.
pub(crate) struct Payment {
    pub(crate) id: i64,
    pub(crate) payer: Option<String>,
    pub(crate) paid: Option<f64>,
    pub(crate) paid_on: Option<String>,
    pub(crate) reference: Option<String>,
}

/// A pseudo-random number generator: Knuth's MMIX.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    fn percent(&mut self, share: usize) -> bool {
        self.roll(100) < share
    }
}

const FIRST: [&str; 24] = [
    "Anna", "Bruno", "Clara", "David", "Elena", "Felix", "Greta", "Henrik", "Ingrid", "Jonas", "Katrin", "Lorenz",
    "Marta", "Nikolai", "Olivia", "Pascal", "Quentin", "Renate", "Stefan", "Theresa", "Ulrich", "Valerie", "Wilhelm",
    "Xenia",
];
const LAST: [&str; 24] = [
    "Adler",
    "Baumann",
    "Castellan",
    "Dietrich",
    "Engelhardt",
    "Fernandez",
    "Gruber",
    "Hoffmann",
    "Iversen",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Oberhauser",
    "Petrov",
    "Quist",
    "Rosenthal",
    "Schneider",
    "Tanaka",
    "Ullmann",
    "Vogel",
    "Winkler",
    "Zimmermann",
];
const FORM: [&str; 6] = ["Ltd", "Trading", "& Sons", "Consulting", "Foods", "Logistics"];

impl Ledger {
    pub(crate) fn new(rows: usize) -> Ledger {
        let mut dice = Dice(7);
        let mut ledger = Ledger { invoices: Vec::new(), payments: Vec::new(), truth: BTreeMap::new() };
        for at in 0..rows {
            let invoice = invoice(at, &mut dice);
            let id = 500_000 + ((at * 7_919) % (rows * 2)) as i64;
            // A payment of the invoice, or an unrelated one.
            if at % 20 == 19 {
                let other = self::invoice(rows + at, &mut dice);
                ledger.payments.push(payment(id, &other, &mut dice));
            } else {
                ledger.payments.push(payment(id, &invoice, &mut dice));
                ledger.truth.insert(invoice.id.clone(), id.to_string());
            }
            ledger.invoices.push(invoice);
        }
        // The order carries no information.
        ledger.payments.sort_by_key(|payment| payment.id);
        let mut ids: Vec<i64> = ledger.payments.iter().map(|payment| payment.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), rows, "payment ids are unique");
        ledger
    }

    /// `invoice_id,customer,amount,issued,reference`
    pub(crate) fn invoices_csv(&self) -> String {
        let mut text = String::from("invoice_id,customer,amount,issued,reference\n");
        for Invoice { id, customer, amount, issued, reference } in &self.invoices {
            text.push_str(&format!("{id},{customer},{amount:.2},{issued},{reference}\n"));
        }
        text
    }

    /// `payment_id,payer,paid,paid_on,purpose`
    pub(crate) fn payments_csv(&self) -> String {
        let mut text = String::from("payment_id,payer,paid,paid_on,purpose\n");
        for payment in &self.payments {
            let or_nothing = |text: &Option<String>| text.clone().unwrap_or_default();
            let paid = payment.paid.map(|paid| format!("{paid:.2}")).unwrap_or_default();
            let (payer, on) = (or_nothing(&payment.payer), or_nothing(&payment.paid_on));
            text.push_str(&format!("{},{payer},{paid},{on},{}\n", payment.id, or_nothing(&payment.reference)));
        }
        text
    }

    /// Returns a table `payments` with its rows, in standard SQL.
    pub(crate) fn payments_sql(&self) -> String {
        let mut sql = String::from(
            "CREATE TABLE payments (payment_id INTEGER PRIMARY KEY, payer VARCHAR(80), paid NUMERIC(12,2), \
             paid_on DATE, purpose VARCHAR(40));\n",
        );
        for rows in self.payments.chunks(500) {
            let text = |text: &Option<String>| match text {
                Some(text) => format!("'{}'", text.replace('\'', "''")),
                None => "NULL".to_owned(),
            };
            let values: Vec<String> = (rows.iter())
                .map(|payment| {
                    let paid = payment.paid.map_or("NULL".to_owned(), |paid| format!("{paid:.2}"));
                    let (payer, on, purpose) = (text(&payment.payer), text(&payment.paid_on), text(&payment.reference));
                    format!("({}, {payer}, {paid}, {on}, {purpose})", payment.id)
                })
                .collect();
            sql.push_str(&format!("INSERT INTO payments VALUES {};\n", values.join(", ")));
        }
        sql
    }

    /// Returns precision and recall of pairs of keys.
    pub(crate) fn judge<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> (f64, f64) {
        let (mut all, mut right) = (0, 0);
        for (invoice, payment) in pairs {
            all += 1;
            right += usize::from(self.truth.get(invoice).is_some_and(|id| id == payment));
        }
        (right as f64 / f64::from(all.max(1)), right as f64 / self.truth.len() as f64)
    }
}

fn invoice(at: usize, dice: &mut Dice) -> Invoice {
    let customer = format!("{} {} {}", FIRST[dice.roll(24)], LAST[dice.roll(24)], FORM[dice.roll(6)]);
    let (month, day) = (dice.roll(12) + 1, dice.roll(23) + 1);
    Invoice {
        id: format!("L{at:06}"),
        customer,
        amount: (dice.roll(490_000) + 1_000) as f64 / 100.0,
        issued: format!("2025-{month:02}-{day:02}"),
        reference: format!("INV-{:06}", (at * 37) % 1_000_000),
    }
}

/// A payment of an invoice, with noise.
fn payment(id: i64, invoice: &Invoice, dice: &mut Dice) -> Payment {
    let mut payer = invoice.customer.clone();
    if dice.percent(20) {
        payer = mistyped(&payer, dice);
    }
    if dice.percent(20) {
        payer = payer.to_uppercase();
    }
    let mut paid = invoice.amount;
    if dice.percent(15) {
        paid += [-0.03, -0.02, -0.01, 0.01, 0.02, 0.03][dice.roll(6)];
    }
    let (start, day) = invoice.issued.split_at(8);
    let later = day.parse::<usize>().unwrap_or(1) + dice.roll(5);
    let mut reference = invoice.reference.clone();
    if dice.percent(8) {
        reference = mistyped(&reference, dice);
    }
    if dice.percent(10) {
        reference = reference.to_lowercase();
    }
    Payment {
        id,
        payer: (!dice.percent(4)).then_some(payer),
        paid: (!dice.percent(2)).then_some(paid),
        paid_on: (!dice.percent(2)).then(|| format!("{start}{later:02}")),
        reference: (!dice.percent(12)).then_some(reference),
    }
}

/// Removes, doubles or replaces a letter or digit, or swaps it with the next.
fn mistyped(text: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = dice.roll(letters.len() - 1);
    match dice.roll(4) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = if letters[at].is_ascii_digit() { (b'0' + dice.roll(10) as u8) as char } else { 'e' },
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}

/// Invoices and payments as CSV that agree in customer and amount; one in ten invoices has no payment. Few columns, so that a recipe is
/// inferred and run quickly.
pub(crate) fn plain_csv(rows: usize) -> [String; 2] {
    let mut invoices = String::from("invoice_id,customer,amount\n");
    let mut payments = String::from("payment_id,payer,paid\n");
    for at in 0..rows {
        let (customer, amount) = (format!("Customer {}", at * 7 % rows), 10.25 + (at * 137 % 900) as f64);
        invoices.push_str(&format!("{},{customer},{amount:.2}\n", 1_000 + at));
        if at % 10 != 9 {
            payments.push_str(&format!("{},{customer},{amount:.2}\n", 7_000 + at));
        }
    }
    [invoices, payments]
}
