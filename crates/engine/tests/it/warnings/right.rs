//! Correct queries in many shapes: each shape with several columns and values of the same tables.

/// A shape, and the replacements of `{0}`, `{1}` and so on, once for each query.
type Shape = (&'static str, &'static [&'static [&'static str]]);

/// Returns all queries.
pub(crate) fn queries() -> Vec<String> {
    let all = SHAPES.iter().flat_map(|(shape, fills)| {
        fills.iter().map(move |fill| {
            let parts = fill.iter().enumerate();
            parts.fold((*shape).to_owned(), |sql, (at, part)| sql.replace(&format!("{{{at}}}"), part))
        })
    });
    all.collect()
}

const SHAPES: &[Shape] = &[
    (
        "SELECT COUNT(*) FROM {0}",
        &[
            &["shop.customers"],
            &["shop.orders"],
            &["shop.items"],
            &["shop.flights"],
            &["shop.votes"],
            &["school.students"],
            &["school.grades"],
        ],
    ),
    (
        "SELECT {1}, COUNT(*) FROM {0} GROUP BY {1} ORDER BY 2 DESC",
        &[
            &["shop.customers", "tier"],
            &["shop.customers", "country"],
            &["shop.orders", "status"],
            &["shop.products", "category"],
            &["shop.payments", "method"],
            &["shop.votes", "state"],
            &["shop.areas", "state"],
            &["school.grades", "subject"],
            &["school.grades", "term"],
            &["shop.flights", "carrier"],
        ],
    ),
    (
        "SELECT * FROM {0} WHERE {1} = '{2}'",
        &[
            &["shop.customers", "tier", "vip"],
            &["shop.customers", "country", "Norway"],
            &["shop.customers", "city", "Oslo"],
            &["shop.customers", "zip", "01234"],
            &["shop.orders", "status", "Paid"],
            &["shop.orders", "status", "Cancelled"],
            &["shop.products", "category", "Kitchen"],
            &["shop.payments", "method", "wire"],
            &["shop.airports", "City", "Oslo "],
            &["shop.flights", "source", " OSL"],
            &["shop.votes", "state", "NY"],
            &["school.students", "house", "Red"],
            &["school.grades", "subject", "Latin"],
        ],
    ),
    (
        "SELECT {1}(total) FROM shop.orders WHERE status = '{0}'",
        &[&["Paid", "SUM"], &["Open", "AVG"], &["Cancelled", "MAX"], &["Paid", "MIN"]],
    ),
    (
        "SELECT name FROM shop.customers WHERE {0}",
        &[
            &["country = 'Sweden' AND tier = 'basic'"],
            &["country = 'Denmark' AND tier = 'vip'"],
            &["country IS NULL"],
            &["country IS NOT NULL AND is_active = 1"],
            &["tier IN ('vip', 'trial')"],
            &["tier <> 'basic' AND country = 'Norway'"],
            &["LOWER(city) = 'bergen'"],
            &["name LIKE 'A%'"],
            &["name LIKE '%a%' OR name LIKE '%e%'"],
            &["joined >= '2024-01-01'"],
            &["joined BETWEEN '2023-01-01' AND '2023-12-31'"],
            &["joined < '2023-01-01'"],
            &["is_active = 0 AND tier = 'trial'"],
            &["id BETWEEN 2 AND 4"],
            &["TRIM(LOWER(city)) = 'oslo'"],
            &["country = 'Norway' OR country = 'Sweden'"],
            &["NOT (tier = 'basic')"],
            &["COALESCE(country, '?') <> 'Norway'"],
            &["(country <> 'Norway' OR country IS NULL)"],
        ],
    ),
    (
        "SELECT COUNT(*), SUM(total) FROM shop.orders WHERE {0}",
        &[
            &["placed >= '2024-01-01' AND placed < '2024-02-01'"],
            &["placed >= '2024-03-01' AND placed < '2024-04-01'"],
            &["placed >= '2030-01-01'"],
            &["date(placed) = '2024-01-03'"],
            &["date(placed) BETWEEN '2024-01-01' AND '2024-01-31'"],
            &["strftime('%Y', placed) = '2024'"],
            &["strftime('%m', placed) = '03'"],
            &["placed LIKE '2024-02-%'"],
            &["substr(placed, 1, 7) = '2024-04'"],
            &["total > 50"],
            &["total > 500"],
            &["total BETWEEN 10 AND 60 AND status = 'Open'"],
            &["customer_id IS NULL"],
            &["customer_id = 3"],
            &["status <> 'Cancelled'"],
            &["status NOT IN ('Cancelled', 'Open')"],
        ],
    ),
    (
        "SELECT c.{0}, {1} FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id GROUP BY c.{0}",
        &[
            &["name", "COUNT(*)"],
            &["name", "SUM(o.total)"],
            &["name", "COUNT(c.id)"],
            &["tier", "AVG(o.total)"],
            &["country", "SUM(o.total)"],
            &["country", "COUNT(DISTINCT c.id)"],
            &["tier", "MAX(o.placed)"],
            &["tier", "COUNT(o.id)"],
        ],
    ),
    (
        "SELECT p.{0}, {1} FROM shop.items i JOIN shop.products p ON p.id = i.product_id GROUP BY p.{0} ORDER BY 2 DESC LIMIT {2}",
        &[
            &["title", "SUM(i.qty)", "3"],
            &["title", "SUM(i.qty * i.price)", "5"],
            &["category", "COUNT(*)", "2"],
            &["category", "SUM(i.price)", "3"],
            &["category", "COUNT(DISTINCT p.id)", "3"],
            &["title", "AVG(i.price)", "1"],
            &["title", "MAX(i.qty)", "4"],
        ],
    ),
    (
        "SELECT {0} FROM shop.customers c JOIN shop.orders o ON o.customer_id = c.id JOIN shop.items i ON i.order_id = o.id \
         JOIN shop.products p ON p.id = i.product_id WHERE {1}",
        &[
            &["SUM(i.qty)", "c.country = 'Norway'"],
            &["SUM(i.qty * i.price)", "p.category = 'Home' AND o.status = 'Paid'"],
            &["COUNT(DISTINCT c.id)", "p.title = 'Pen'"],
            &["DISTINCT c.name", "p.title = 'Mug'"],
            &["c.name, p.title, i.qty", "o.id = 4"],
            &["COUNT(DISTINCT o.id)", "p.category IN ('Home', 'Office')"],
            &["COUNT(*)", "c.tier = 'vip'"],
            &["MAX(i.price)", "c.tier <> 'vip'"],
        ],
    ),
    (
        "SELECT c.name, COUNT(o.id) FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id{0} GROUP BY c.id, c.name",
        &[&[""], &[" AND o.status = 'Paid'"], &[" AND o.total > 20"], &[" AND o.placed >= '2024-03-01'"]],
    ),
    (
        "SELECT {0} FROM shop.customers c LEFT JOIN shop.orders o ON o.customer_id = c.id WHERE o.id IS NULL",
        &[&["c.name"], &["COUNT(*)"], &["c.id, c.city"]],
    ),
    (
        "SELECT {1} FROM {0} x WHERE {2} EXISTS (SELECT 1 FROM {3} y WHERE y.{4} = x.{5})",
        &[
            &["shop.customers", "x.name", "", "shop.orders", "customer_id", "id"],
            &["shop.customers", "COUNT(*)", "NOT", "shop.orders", "customer_id", "id"],
            &["shop.orders", "SUM(x.total)", "", "shop.payments", "order_id", "id"],
            &["shop.orders", "x.id", "NOT", "shop.payments", "order_id", "id"],
            &["shop.products", "x.title", "NOT", "shop.items", "product_id", "id"],
            &["shop.employees", "x.name", "", "shop.employees", "boss_id", "id"],
            &["school.students", "x.name", "NOT", "school.grades", "student", "id"],
        ],
    ),
    (
        "SELECT name FROM shop.customers WHERE id {0} (SELECT customer_id FROM shop.orders WHERE {1})",
        &[
            &["IN", "status = 'Paid'"],
            &["IN", "total > 60"],
            &["NOT IN", "customer_id IS NOT NULL"],
            &["NOT IN", "status = 'Paid' AND customer_id IS NOT NULL"],
            &["IN", "placed >= '2024-03-01' AND placed < '2024-04-01'"],
        ],
    ),
    (
        "WITH spent AS (SELECT customer_id, SUM(total) AS sum FROM shop.orders WHERE status = '{0}' GROUP BY customer_id) \
         SELECT {1} FROM spent s JOIN shop.customers c ON c.id = s.customer_id ORDER BY s.sum DESC",
        &[&["Paid", "c.name, s.sum"], &["Open", "c.name"], &["Paid", "c.country, s.sum"]],
    ),
    (
        "SELECT {0} FROM (SELECT order_id, SUM(amount) AS paid FROM shop.payments GROUP BY order_id) p \
         JOIN shop.orders o ON o.id = p.order_id",
        &[&["SUM(o.total - p.paid)"], &["o.id, o.total, p.paid"], &["SUM(o.total)"], &["COUNT(*)"]],
    ),
    (
        "SELECT {0} FROM shop.orders",
        &[
            &["SUM(CASE WHEN status = 'Paid' THEN total ELSE 0 END)"],
            &["SUM(CASE WHEN status = 'Paid' THEN 1 ELSE 0 END) * 100.0 / COUNT(*)"],
            &["id, total, RANK() OVER (ORDER BY total DESC)"],
            &["customer_id, SUM(total) OVER (PARTITION BY customer_id)"],
            &["COUNT(DISTINCT customer_id)"],
            &["MIN(placed), MAX(placed)"],
            &["strftime('%Y-%m', placed) AS month, SUM(total)"],
            &["status, total"],
            &["MAX(total) - MIN(total)"],
            &["customer_id % 2, COUNT(*)"],
            &["COUNT(CASE WHEN status = 'Open' THEN 1 END)"],
            &["AVG(total)"],
        ],
    ),
    (
        "SELECT title FROM shop.products {0}",
        &[
            &["WHERE CAST(weight AS INTEGER) > 1000"],
            &["ORDER BY CAST(weight AS INTEGER) DESC LIMIT 1"],
            &["ORDER BY title LIMIT 3"],
            &["WHERE weight = '95'"],
            &["WHERE category = 'Home' ORDER BY title DESC LIMIT 1"],
        ],
    ),
    (
        "SELECT {0} FROM shop.flights f JOIN shop.airports a ON TRIM(f.{1}) = a.code WHERE TRIM(a.City) = '{2}'",
        &[
            &["COUNT(*)", "dest", "Aberdeen"],
            &["f.id", "source", "Oslo"],
            &["MAX(CAST(f.delay AS INTEGER))", "dest", "Bergen"],
        ],
    ),
    (
        "SELECT a.name, {0} FROM shop.flights f JOIN shop.airlines a ON a.uid = f.airline GROUP BY a.name{1}",
        &[
            &["COUNT(*)", ""],
            &["AVG(CAST(f.delay AS INTEGER))", ""],
            &["COUNT(DISTINCT f.dest)", " HAVING COUNT(*) > 1"],
            &["COUNT(*)", " ORDER BY a.name LIMIT 1"],
        ],
    ),
    (
        "SELECT c.name, COUNT(*) AS n FROM shop.votes v JOIN shop.contestants c ON c.number = v.contestant WHERE {0} \
         GROUP BY c.name ORDER BY n DESC",
        &[&["v.state = 'TX'"], &["v.state IN ('NY', 'CA')"], &["v.state <> 'TX'"], &["1 = 1"]],
    ),
    (
        "SELECT e.name, b.name FROM shop.employees e {0}JOIN shop.employees b ON b.id = e.boss_id{1}",
        &[&["", ""], &["LEFT ", ""], &["", " WHERE e.salary > b.salary"], &["", " WHERE b.name = 'Nia'"]],
    ),
    (
        "SELECT {0} FROM shop.employees",
        &[
            &["AVG(salary)"],
            &["LOWER(office), COUNT(*)"],
            &["name, salary + COALESCE(bonus, 0)"],
            &["COUNT(bonus)"],
            &["SUM(bonus)"],
            &["MAX(salary) - MIN(salary)"],
        ],
    ),
    (
        "SELECT s.name, {0} FROM school.students s JOIN school.grades g ON g.student = s.id {1} GROUP BY s.name",
        &[
            &["AVG(g.mark)", ""],
            &["COUNT(*)", "WHERE g.subject = 'Maths'"],
            &["MAX(g.mark)", "WHERE g.term = '2024-2'"],
            &["MIN(g.mark)", "WHERE s.house = 'Red'"],
            &["SUM(g.mark)", "WHERE g.subject IN ('Maths', 'Art')"],
        ],
    ),
    (
        "SELECT name FROM school.students WHERE born {0}",
        &[&[">= '2010-01-01'"], &["BETWEEN '2009-01-01' AND '2009-12-31'"], &["= '2010-05-02'"]],
    ),
    (
        "SELECT s.name FROM school.students s JOIN shop.customers c ON c.id = s.id WHERE c.tier = '{0}'",
        &[&["vip"], &["basic"]],
    ),
    (
        "SELECT {0} FROM shop.orders {1} SELECT {0} FROM shop.orders WHERE {2}",
        &[
            &["customer_id", "EXCEPT", "status = 'Cancelled'"],
            &["customer_id", "UNION", "status = 'Open'"],
            &["status", "INTERSECT", "total > 60"],
        ],
    ),
    (
        "SELECT o.id, {0} FROM shop.orders o JOIN shop.payments p ON p.order_id = o.id {1}",
        &[
            &["p.amount", ""],
            &["p.method", "WHERE p.method = 'card'"],
            &["o.total", "WHERE o.total > 60"],
            &["SUM(p.amount)", "GROUP BY o.id"],
            &["COUNT(*)", "GROUP BY o.id HAVING COUNT(*) > 1"],
        ],
    ),
    (
        "SELECT {0}, (SELECT COUNT(*) FROM shop.orders o WHERE o.customer_id = c.id) FROM shop.customers c WHERE c.tier = '{1}'",
        &[&["c.name", "vip"], &["c.city", "trial"], &["c.name", "basic"]],
    ),
    (
        "SELECT {0} FROM shop.customers, shop.orders WHERE orders.customer_id = customers.id AND {1}",
        &[
            &["customers.name, orders.total", "total > 50"],
            &["SUM(orders.total)", "country = 'Norway'"],
            &["COUNT(DISTINCT customers.id)", "status = 'Paid'"],
        ],
    ),
    (
        "SELECT a.state, COUNT(*) FROM shop.areas a WHERE a.state {0} GROUP BY a.state",
        &[&["= 'NY'"], &["IN (SELECT state FROM shop.votes)"], &["<> 'NY'"], &["LIKE 'C%'"]],
    ),
    (
        "SELECT state, voters, codes FROM (SELECT state, COUNT(*) AS voters FROM shop.votes GROUP BY state) JOIN \
         (SELECT state AS place, COUNT(*) AS codes FROM shop.areas GROUP BY state) ON state = place WHERE {0}",
        &[&["voters > 1"], &["codes > 1"]],
    ),
    (
        "SELECT c.name, t.{0} FROM shop.customers c CROSS JOIN (SELECT {1}(total) AS {0} FROM shop.orders) t WHERE c.id < 4",
        &[&["mean", "AVG"], &["top", "MAX"]],
    ),
    (
        "SELECT id, amount FROM shop.payments WHERE paid_on LIKE '{0}' ORDER BY amount DESC LIMIT 2",
        &[&["01/%"], &["%/2024"], &["03/%/2024"]],
    ),
    (
        "SELECT {0} FROM shop.votes v WHERE v.state = (SELECT state FROM shop.areas WHERE code = {1})",
        &[&["COUNT(*)", "212"], &["v.id", "213"], &["COUNT(DISTINCT v.contestant)", "512"]],
    ),
    (
        "SELECT b.name, {0} FROM shop.employees b JOIN shop.employees e ON e.boss_id = b.id GROUP BY b.id, b.name",
        &[&["COUNT(*)"], &["AVG(e.salary)"], &["COUNT(e.id)"], &["MAX(e.bonus)"]],
    ),
    (
        "SELECT p.category, SUM(i.qty) FROM shop.products p LEFT JOIN shop.items i ON i.product_id = p.id {0} GROUP BY p.category",
        &[&[""], &["WHERE p.category <> 'Home'"], &["AND i.qty > 1"]],
    ),
    (
        "SELECT method, {0} FROM shop.payments GROUP BY method HAVING {1}",
        &[&["SUM(amount)", "SUM(amount) > 50"], &["COUNT(*)", "COUNT(*) > 2"], &["AVG(amount)", "MIN(amount) > 10"]],
    ),
];
