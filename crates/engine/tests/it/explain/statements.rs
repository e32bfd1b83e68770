//! Statements and their explanations, by topic.

/// Statements of one kind, each with its explanation.
type Cases = &'static [(&'static str, &'static str)];

pub(super) const ALL: &[Cases] = &[ROWS, CONDITIONS, ELSEWHERE, JOINS, COMPUTED, DATES, QUERIES, SERVERS, SEVERAL];

const ROWS: Cases = &[
    (
        "SELECT bill_cntry, SUM(total) FROM store.invoices WHERE stat_cd = 'P' AND invoice_date >= '2025-01-01' \
         AND invoice_date < '2026-01-01' GROUP BY bill_cntry ORDER BY SUM(total) DESC LIMIT 10",
        "sum of invoices.total where status is paid (P) and invoice date in 2025, grouped by country, ordered by sum of \
         total descending, first 10",
    ),
    ("SELECT COUNT(*) FROM store.invoices", "count of rows of invoices"),
    (
        "SELECT name, country_cd FROM store.customers WHERE mkt_optin",
        "name and country_cd from customers where mkt_optin is true",
    ),
    (
        "SELECT * FROM store.customers ORDER BY name LIMIT 5 OFFSET 10",
        "all columns from customers, ordered by name, rows 11 to 15",
    ),
    ("SELECT DISTINCT country_cd FROM store.customers", "distinct country_cd from customers"),
    ("SELECT name FROM store.customers ORDER BY 1 LIMIT 1", "name from customers, ordered by name, first row"),
    ("SELECT COUNT(DISTINCT customer_id) FROM store.invoices", "count of distinct invoices.customer_id"),
    ("SELECT replace(name, 'a', 'b') FROM store.customers", "`replace(name, 'a', 'b')` from customers"),
];

const CONDITIONS: Cases = &[
    (
        "SELECT AVG(total), MIN(total), MAX(total) FROM store.invoices WHERE total BETWEEN 10 AND 20",
        "average of total, minimum of total and maximum of total from invoices where total from 10 to 20",
    ),
    (
        "SELECT COUNT(DISTINCT customer_id) FROM store.invoices WHERE stat_cd IN ('P', 'O')",
        "count of distinct invoices.customer_id where status is one of paid (P) or open (O)",
    ),
    (
        "SELECT invoice_id FROM store.invoices WHERE stat_cd NOT IN ('P') AND customer_id IS NULL",
        "invoice_id from invoices where status is not paid (P) and customer_id is null",
    ),
    (
        "SELECT name FROM store.customers WHERE name LIKE 'A%' OR name LIKE '%son' OR name NOT LIKE '%x%'",
        "name from customers where name starts with 'A' or name ends with 'son' or name does not contain 'x'",
    ),
    (
        "SELECT invoice_id FROM store.invoices WHERE (stat_cd = 'P' OR stat_cd = 'O') AND total > 100",
        "invoice_id from invoices where (status is paid (P) or status is open (O)) and total is more than 100",
    ),
    (
        "SELECT invoice_id FROM store.invoices WHERE stat_cd = 'P' AND total <= 9 OR total >= 100 AND total <> 500",
        "invoice_id from invoices where (status is paid (P) and total is at most 9) or (total is at least 100 and total is \
         not 500)",
    ),
    (
        "SELECT invoice_id FROM store.invoices WHERE NOT (stat_cd = 'P' AND total < 5)",
        "invoice_id from invoices where not (status is paid (P) and total is less than 5)",
    ),
    (
        "SELECT name FROM store.customers WHERE NOT mkt_optin AND country_cd IS NOT NULL",
        "name from customers where mkt_optin is false and country_cd is not null",
    ),
];

const ELSEWHERE: Cases = &[
    (
        "SELECT name FROM store.customers c WHERE NOT EXISTS (SELECT 1 FROM store.invoices i \
         WHERE i.customer_id = c.customer_id AND i.stat_cd = 'P')",
        "name from customers that have no invoices (same customer_id and status is paid (P))",
    ),
    (
        "SELECT name FROM store.customers c WHERE country_cd = 'NO' AND EXISTS (SELECT * FROM store.invoices i \
         WHERE i.customer_id = c.customer_id)",
        "name from customers that have invoices (same customer_id) where country_cd is 'NO'",
    ),
    (
        "SELECT name FROM store.customers WHERE customer_id NOT IN (SELECT customer_id FROM store.invoices WHERE total > 50)",
        "name from customers that have no invoices (same customer_id and total is more than 50)",
    ),
    (
        "SELECT name FROM store.customers WHERE country_cd IN (SELECT bill_cntry FROM store.invoices)",
        "name from customers that have invoices (invoices.country is its country_cd)",
    ),
    (
        "SELECT name FROM store.customers WHERE customer_id IN (SELECT customer_id FROM store.invoices \
         GROUP BY customer_id HAVING COUNT(*) > 3)",
        "name from customers where customer_id is among (customer_id from invoices, grouped by customer_id, only groups \
         where count of rows is more than 3)",
    ),
    (
        "SELECT name FROM store.customers c WHERE country_cd = 'NO' OR EXISTS (SELECT 1 FROM store.invoices i \
         WHERE i.customer_id = c.customer_id)",
        "name from customers where country_cd is 'NO' or has invoices (same customer_id)",
    ),
];

const JOINS: Cases = &[
    (
        "SELECT c.name, SUM(i.total) AS revenue FROM store.invoices i JOIN store.customers c \
         ON c.customer_id = i.customer_id GROUP BY c.customer_id, c.name HAVING SUM(i.total) > 100 ORDER BY revenue DESC",
        "sum of invoices.total from invoices joined with customers on customer_id, grouped by customers.customer_id and \
         customers.name, only groups where sum of invoices.total is more than 100, ordered by sum of invoices.total \
         descending",
    ),
    (
        "SELECT i.invoice_id FROM store.invoices i LEFT JOIN store.refunds r ON r.invoice_id = i.invoice_id \
         WHERE r.refund_id IS NULL",
        "invoices.invoice_id from invoices joined with refunds on invoice_id (also invoices without refunds) where \
         refunds.refund_id is null",
    ),
    (
        "SELECT COUNT(*) FROM store.invoices i LEFT JOIN store.refunds r ON r.invoice_id = i.invoice_id AND r.amount > 5",
        "count of rows from invoices joined with refunds on invoice_id and refunds.amount is more than 5 (also invoices \
         without such refunds)",
    ),
    (
        "SELECT k.name FROM store.invoices i JOIN store.countries k ON k.country_cd = i.bill_cntry",
        "countries.name from invoices joined with countries on invoices.country = countries.country_cd",
    ),
    (
        "SELECT a.name FROM store.customers a JOIN store.customers b ON a.country_cd = b.country_cd",
        "a.name from customers as a joined with customers as b on country_cd",
    ),
    (
        "SELECT name FROM store.invoices JOIN store.customers USING (customer_id)",
        "customers.name from invoices joined with customers on customer_id",
    ),
    (
        "SELECT COUNT(*) FROM store.customers CROSS JOIN store.countries",
        "count of rows from customers combined with every row of countries",
    ),
    (
        "SELECT COUNT(*) FROM store.customers c, store.countries k WHERE c.country_cd = k.country_cd",
        "count of rows from customers and countries where customers.country_cd equals countries.country_cd",
    ),
];

const COMPUTED: Cases = &[
    (
        "SELECT SUM(CASE WHEN stat_cd = 'P' THEN 1 ELSE 0 END) FROM store.invoices",
        "count of rows where status is paid (P), from invoices",
    ),
    (
        "SELECT SUM(CASE WHEN stat_cd = 'P' THEN total ELSE 0 END) * 1.0 / COUNT(*) FROM store.invoices",
        "(sum of total where status is paid (P)) × 1.0 / count of rows from invoices",
    ),
    (
        "SELECT COUNT(*) FILTER (WHERE total > 10), COUNT(*) FROM store.invoices",
        "count of rows where total is more than 10; count of rows, from invoices",
    ),
    (
        "SELECT CASE WHEN total > 100 THEN 'high' WHEN total > 10 THEN 'low' END FROM store.invoices",
        "'high' if total is more than 100, 'low' if total is more than 10, otherwise null, from invoices",
    ),
    ("SELECT SUM((total - 1) * 2) FROM store.invoices", "sum of ((total - 1) × 2) from invoices"),
    (
        "SELECT name, RANK() OVER (PARTITION BY country_cd ORDER BY signup_date DESC) FROM store.customers",
        "name and rank within each country_cd by signup_date descending from customers",
    ),
    (
        "SELECT invoice_date, SUM(total) OVER (ORDER BY invoice_date) FROM store.invoices",
        "invoice date and running sum of total by invoice date from invoices",
    ),
    (
        "SELECT total, LAG(total) OVER (ORDER BY invoice_date) FROM store.invoices",
        "total and previous total by invoice date from invoices",
    ),
    ("SELECT total, SUM(total) OVER () FROM store.invoices", "total and sum of total over all rows from invoices"),
    ("SELECT ROUND(AVG(total), 2) FROM store.invoices", "average of total rounded to 2 decimals from invoices"),
    (
        "SELECT COALESCE(country_cd, '?'), name || ' ' || country_cd FROM store.customers",
        "country_cd ('?' if null); concatenation of name, ' ' and country_cd, from customers",
    ),
];

const DATES: Cases = &[
    (
        "SELECT strftime('%Y-%m', invoice_date) AS month, SUM(total) FROM store.invoices GROUP BY month ORDER BY month",
        "sum of invoices.total, grouped by month of invoice date, ordered by month of invoice date",
    ),
    (
        "SELECT COUNT(*) FROM store.invoices WHERE strftime('%Y', invoice_date) = '2024'",
        "count of rows of invoices where invoice date in 2024",
    ),
    (
        "SELECT COUNT(*) FROM store.invoices WHERE invoice_date >= '2025-01-15' AND invoice_date < '2025-02-20'",
        "count of rows of invoices where invoice date from 2025-01-15 to before 2025-02-20",
    ),
    (
        "SELECT COUNT(*) FROM store.invoices WHERE invoice_date BETWEEN '2025-01-01' AND '2025-12-31'",
        "count of rows of invoices where invoice date from 2025-01-01 to 2025-12-31",
    ),
    (
        "SELECT COUNT(*) FROM store.invoices WHERE invoice_date >= date('now', '-30 days')",
        "count of rows of invoices where invoice date from 30 days before today",
    ),
    (
        "SELECT (CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3, COUNT(*) FROM store.invoices GROUP BY 1",
        "count of rows of invoices, grouped by quarter (1-4) of invoice date",
    ),
    (
        "SELECT substr(invoice_date, 1, 7), SUM(total) FROM store.invoices GROUP BY 1",
        "sum of invoices.total, grouped by month of invoice date",
    ),
];

const QUERIES: Cases = &[
    (
        "WITH spent AS (SELECT customer_id, SUM(total) AS sum_total FROM store.invoices GROUP BY customer_id) \
         SELECT AVG(sum_total) FROM spent",
        "average of spent.sum_total; where spent is: sum of invoices.total as sum_total, grouped by customer_id",
    ),
    (
        "SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM store.invoices GROUP BY customer_id) t",
        "average of n from (count of rows of invoices as n, grouped by customer_id)",
    ),
    (
        "SELECT name FROM store.customers UNION ALL SELECT name FROM store.countries ORDER BY 1 LIMIT 3",
        "(name from customers) together with (name from countries), ordered by column 1, first 3",
    ),
    (
        "SELECT customer_id FROM store.customers EXCEPT SELECT customer_id FROM store.invoices",
        "(customer_id from customers) except (customer_id from invoices)",
    ),
    (
        "SELECT name, (SELECT COUNT(*) FROM store.invoices i WHERE i.customer_id = c.customer_id) FROM store.customers c",
        "name and (count of rows of invoices where customer_id equals customers.customer_id) from customers",
    ),
];

const SERVERS: Cases = &[
    (
        "SELECT date_trunc('quarter', invoice_date), SUM(total) FROM pg.invoices GROUP BY 1",
        "sum of invoices.total, grouped by quarter of invoice date",
    ),
    (
        "SELECT EXTRACT(YEAR FROM invoice_date), COUNT(*) FROM pg.invoices GROUP BY EXTRACT(YEAR FROM invoice_date)",
        "count of rows of invoices, grouped by year of invoice date",
    ),
    (
        "SELECT COUNT(*) FROM pg.invoices WHERE EXTRACT(YEAR FROM invoice_date) = 2025",
        "count of rows of invoices where invoice date in 2025",
    ),
    (
        "SELECT COUNT(*) FROM pg.invoices WHERE invoice_date >= DATE '2025-03-01' \
         AND invoice_date < DATE '2025-03-01' + INTERVAL '1 month'",
        "count of rows of invoices where invoice date in March 2025",
    ),
    (
        "SELECT to_char(invoice_date, 'YYYY-MM'), SUM(total) FROM pg.invoices GROUP BY 1",
        "sum of invoices.total, grouped by month of invoice date",
    ),
    (
        "SELECT name FROM pg.customers WHERE name ILIKE '%ann%'",
        "name from customers where name contains 'ann' (in any case)",
    ),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM pg.invoices", "median of total from invoices"),
    (
        "SELECT DISTINCT ON (customer_id) customer_id, total FROM pg.invoices ORDER BY customer_id, total DESC",
        "first row for each customer_id: customer_id and total from invoices, ordered by customer_id and total descending",
    ),
    (
        "SELECT COUNT(*) FROM pg.refunds WHERE placed >= now() - INTERVAL '7 days'",
        "count of rows of refunds where placed from 7 days before now",
    ),
    (
        "SELECT string_agg(name, ', ' ORDER BY name) FROM pg.customers",
        "list of name separated by ', ' by name from customers",
    ),
    ("SELECT name FROM pg.customers FETCH FIRST 3 ROWS ONLY", "name from customers, first 3"),
    (
        "SELECT DATE_FORMAT(invoice_date, '%Y-%m') AS m, SUM(total) FROM my.invoices GROUP BY m",
        "sum of invoices.total, grouped by month of invoice date",
    ),
    (
        "SELECT COUNT(*) FROM my.invoices WHERE YEAR(invoice_date) = 2025 AND MONTH(invoice_date) = 3",
        "count of rows of invoices where invoice date in 2025 and month (1-12) of invoice date is 3",
    ),
    (
        "SELECT IF(total > 100, 'high', 'low') FROM my.invoices",
        "'high' if total is more than 100, otherwise 'low', from invoices",
    ),
    (
        "SELECT COUNT(*) FROM my.invoices WHERE invoice_date >= DATE_SUB(CURDATE(), INTERVAL 1 YEAR)",
        "count of rows of invoices where invoice date from 1 year before today",
    ),
    ("SELECT GROUP_CONCAT(name SEPARATOR ';') FROM my.customers", "list of name separated by ';' from customers"),
    (
        "SELECT DATEDIFF(MAX(invoice_date), MIN(invoice_date)) FROM my.invoices",
        "days from minimum of invoice date to maximum of invoice date from invoices",
    ),
];

const SEVERAL: Cases = &[
    (
        "SELECT i.total, c.name FROM store.invoices i JOIN pg.customers c ON c.customer_id = i.customer_id",
        "invoices.total and customers.name from invoices (store) joined with customers (pg) on customer_id",
    ),
    (
        "SELECT c.name, s.spend FROM store.customers c JOIN step_1 s ON s.customer_id = c.customer_id",
        "customers.name and step 1.spend from customers joined with rows of step 1 on customer_id",
    ),
    ("SELECT SUM(spend) FROM step_1", "sum of step 1.spend"),
    ("SELECT COUNT(*) FROM scoped.step_1", "count of rows of step 1"),
    (
        "SELECT date_trunc('month', invoice_date), COUNT(*) FROM files.invoices GROUP BY 1",
        "count of rows of invoices, grouped by month of invoice date",
    ),
];
