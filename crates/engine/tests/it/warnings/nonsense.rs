//! Queries that run but are wrong, each with a part of the expected warning.

/// The queries of one kind.
type Queries = &'static [(&'static str, &'static str)];

/// The queries by kind of error.
pub(crate) const QUERIES: &[(&str, Queries)] = &[
    ("blanks", BLANKS),
    ("case", CASE),
    ("empty filter", EMPTY),
    ("types", TYPES),
    ("dates", DATES),
    ("wrong key", KEYS),
    ("fan-out", FAN_OUT),
    ("nulls", NULLS),
];

const BLANKS: Queries = &[
    ("SELECT COUNT(*) FROM shop.airports WHERE City = 'Aberdeen'", "trailing space"),
    ("SELECT code FROM shop.airports WHERE country = 'NO'", "trailing space"),
    ("SELECT COUNT(*) FROM shop.flights WHERE source = 'OSL'", "leading space"),
    ("SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code", "leading space"),
    (
        "SELECT a.City, COUNT(f.id) FROM shop.airports a LEFT JOIN shop.flights f ON f.source = a.code GROUP BY a.City",
        "leading space",
    ),
    ("SELECT code FROM shop.airports WHERE City IN ('Oslo', 'Bergen')", "trailing space"),
    ("SELECT COUNT(*) FROM shop.flights WHERE source <> 'OSL'", "leading space"),
    ("SELECT name FROM school.students WHERE house = 'Green'", "trailing space"),
    ("SELECT SUM(CASE WHEN source = 'OSL' THEN 1 ELSE 0 END), COUNT(*) FROM shop.flights", "leading space"),
    (
        "WITH north AS (SELECT code FROM shop.airports WHERE country = 'NO') SELECT COUNT(*) FROM north",
        "trailing space",
    ),
];

const CASE: Queries = &[
    ("SELECT COUNT(*) FROM shop.customers WHERE tier = 'VIP'", "'vip'"),
    ("SELECT COUNT(*) FROM shop.orders WHERE status <> 'cancelled'", "'Cancelled'"),
    ("SELECT SUM(total) FROM shop.orders WHERE status IN ('paid', 'open')", "'Paid'"),
    ("SELECT COUNT(*) FROM shop.payments WHERE method = 'Card' OR method = 'wire'", "'card'"),
    ("SELECT office, COUNT(*) FROM shop.employees GROUP BY office", "different groups"),
    ("SELECT house, COUNT(*) FROM school.students GROUP BY house", "different groups"),
    ("SELECT name FROM shop.customers WHERE LOWER(city) = 'Bergen'", "'bergen'"),
    ("SELECT COUNT(*) FROM shop.flights f JOIN shop.airlines a ON f.carrier = a.code", "'blu' on one side is 'BLU'"),
    ("SELECT title FROM shop.products WHERE category NOT IN ('home', 'Office')", "'Home'"),
    ("SELECT city, COUNT(*) FROM shop.customers GROUP BY city ORDER BY 2 DESC", "different groups"),
];

const EMPTY: Queries = &[
    ("SELECT COUNT(*) FROM shop.customers WHERE city = 'Olso'", "nearest: 'Oslo'"),
    ("SELECT SUM(total) FROM shop.orders WHERE status = 'Completed'", "it contains only"),
    ("SELECT name FROM shop.customers WHERE tier = 'Norway'", "`customers.country`"),
    ("SELECT COUNT(*) FROM shop.products WHERE category = 'Kitchn'", "nearest: 'Kitchen'"),
    ("SELECT COUNT(*) FROM shop.products WHERE title LIKE '%Table%'", "no `products.title` matches"),
    ("SELECT AVG(mark) FROM school.grades WHERE subject = 'Math'", "nearest: 'Maths'"),
    (
        "SELECT c.name FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id WHERE o.status = 'Shipped'",
        "it contains only",
    ),
    (
        "SELECT (SELECT COUNT(*) FROM shop.orders WHERE status = 'Refunded') * 1.0 / COUNT(*) FROM shop.orders",
        "'Refunded'",
    ),
    ("SELECT COUNT(*) FROM shop.payments WHERE method = 'credit card'", "nearest: 'card'"),
    ("SELECT COUNT(*) FROM shop.customers WHERE is_active = 'yes'", "no value 'yes'"),
];

const TYPES: Queries = &[
    ("SELECT title FROM shop.products WHERE weight > '1000'", "stores numbers as text"),
    ("SELECT title FROM shop.products ORDER BY weight DESC LIMIT 1", "stores numbers as text"),
    ("SELECT MAX(delay) FROM shop.flights", "stores numbers as text"),
    ("SELECT COUNT(*) FROM shop.flights WHERE delay > 10", "stores numbers as text"),
    ("SELECT SUM(list_price) FROM shop.products", "not plain numbers"),
    ("SELECT AVG(CAST(list_price AS REAL)) FROM shop.products", "not plain numbers"),
    ("SELECT COUNT(*) FROM shop.customers WHERE zip = '1234'", "leading zeros"),
    ("SELECT COUNT(*) FROM shop.flights WHERE delay BETWEEN 5 AND 40", "stores numbers as text"),
    ("SELECT SUM(CASE WHEN status = 'Paid' THEN 1 ELSE 0 END) / COUNT(*) FROM shop.orders", "divides integers"),
    ("SELECT COUNT(*) FROM shop.accounts a JOIN shop.codes k ON a.code = k.customer_code", "on one side is"),
    ("SELECT title, MIN(weight) FROM shop.products", "stores numbers as text"),
];

const DATES: Queries = &[
    ("SELECT SUM(amount) FROM shop.payments WHERE paid_on >= '2024-03-01'", "character by character"),
    (
        "SELECT COUNT(*) FROM shop.payments WHERE paid_on BETWEEN '2024-01-01' AND '2024-03-31'",
        "character by character",
    ),
    ("SELECT COUNT(*) FROM shop.payments WHERE strftime('%Y', paid_on) = '2024'", "as a date and returns null"),
    ("SELECT strftime('%m', paid_on), SUM(amount) FROM shop.payments GROUP BY 1", "as a date and returns null"),
    ("SELECT COUNT(*) FROM shop.orders WHERE placed BETWEEN '2024-01-01' AND '2024-01-31'", "contains times too"),
    ("SELECT SUM(total) FROM shop.orders WHERE placed <= '2024-02-29'", "contains times too"),
    ("SELECT COUNT(*) FROM shop.orders WHERE placed = '2024-01-03'", "'2024-01-03"),
    ("SELECT COUNT(*) FROM shop.flights WHERE stamp >= '2024-02-01'", "numbers such as"),
    ("SELECT COUNT(*) FROM shop.customers WHERE joined >= '01/01/2024'", "character by character"),
    ("SELECT COUNT(*) FROM shop.orders WHERE strftime('%m', placed) = '3'", "leading zeros"),
    ("SELECT MAX(paid_on) FROM shop.payments", "days"),
    ("SELECT id FROM shop.payments ORDER BY paid_on DESC LIMIT 3", "days"),
];

const KEYS: Queries = &[
    (
        "SELECT c.name, SUM(o.total) FROM shop.orders o JOIN shop.customers c ON o.id = c.id GROUP BY c.name",
        "the declared key is",
    ),
    (
        "SELECT p.title, SUM(i.qty) FROM shop.items i JOIN shop.products p ON i.order_id = p.id GROUP BY p.title",
        "the declared key is",
    ),
    (
        "SELECT a.name, COUNT(*) FROM shop.flights f JOIN shop.airlines a ON f.id = a.uid GROUP BY a.name",
        "the declared key is",
    ),
    (
        "SELECT c.name, COUNT(*) FROM shop.votes v JOIN shop.contestants c ON v.id = c.number GROUP BY c.name",
        "the declared key is",
    ),
    ("SELECT c.name FROM shop.customers c, shop.orders o WHERE o.total > 60", "no condition joins"),
    (
        "SELECT SUM(p.amount) FROM shop.payments p JOIN shop.orders o ON p.id = o.id WHERE o.status = 'Paid'",
        "the declared key is",
    ),
    (
        "SELECT b.name, COUNT(*) FROM shop.employees e JOIN shop.employees b ON e.id = b.id GROUP BY b.name",
        "the declared key is",
    ),
    ("SELECT SUM(i.qty) FROM shop.items i, shop.products p WHERE p.category = 'Home'", "no condition joins"),
];

const FAN_OUT: Queries = &[
    ("SELECT SUM(o.total) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id", "multiplies 10 rows to 17"),
    (
        "SELECT c.name, SUM(o.total) FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id \
         JOIN shop.payments p ON p.order_id = o.id GROUP BY c.name",
        "multiplies",
    ),
    (
        "SELECT o.id, SUM(i.qty), SUM(p.amount) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id \
         JOIN shop.payments p ON p.order_id = o.id GROUP BY o.id",
        "multiplies",
    ),
    ("SELECT COUNT(c.id) FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id", "multiplies"),
    ("SELECT v.id, a.code FROM shop.votes v JOIN shop.areas a ON v.state = a.state", "multiplies 9 rows to 15"),
    ("SELECT COUNT(*) FROM shop.votes v JOIN shop.areas a ON v.state = a.state", "multiplies 9 rows to 15"),
    ("SELECT AVG(o.total) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id WHERE i.qty > 1", "multiplies"),
    (
        "SELECT c.country, COUNT(c.id) FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id GROUP BY c.country",
        "multiplies",
    ),
    (
        "SELECT s.house, COUNT(s.id) FROM school.students s JOIN school.grades g ON g.student = s.id GROUP BY s.house",
        "multiplies",
    ),
    ("SELECT SUM(b.salary) FROM shop.employees e JOIN shop.employees b ON e.boss_id = b.id", "multiplies"),
];

const NULLS: Queries = &[
    ("SELECT COUNT(*) FROM shop.customers WHERE country = NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM shop.customers WHERE country <> NULL", "IS NULL"),
    ("SELECT name FROM shop.customers WHERE country <> 'Norway'", "2 rows have no value"),
    ("SELECT COUNT(*) FROM shop.customers WHERE country NOT IN ('Norway', 'Sweden')", "2 rows have no value"),
    ("SELECT name FROM shop.customers WHERE id NOT IN (SELECT customer_id FROM shop.orders)", "NOT IN matches no row"),
    (
        "SELECT c.name, COUNT(*) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id GROUP BY c.name",
        "COUNT(*) is 1, not 0",
    ),
    (
        "SELECT c.name, COUNT(o.id) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id \
         WHERE o.status = 'Paid' GROUP BY c.name",
        "in WHERE drops them",
    ),
    ("SELECT name, salary + bonus FROM shop.employees", "no value"),
    ("SELECT name FROM shop.employees WHERE id NOT IN (SELECT boss_id FROM shop.employees)", "NOT IN matches no row"),
    ("SELECT COUNT(*) FROM shop.customers WHERE country NOT LIKE 'N%'", "2 rows have no value"),
];
