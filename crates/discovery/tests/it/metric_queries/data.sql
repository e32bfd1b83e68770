CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40), country VARCHAR(2), signed DATE);
INSERT INTO customers VALUES (1, 'Ada', 'DE', '2024-01-05'), (2, 'Bob', 'FR', '2024-02-01'), (3, 'Cyd', 'DE', '2024-02-20'),
    (4, 'Dan', NULL, '2024-03-03'), (5, 'Eve', 'US', '2024-05-09');
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, day DATE, status VARCHAR(1), total NUMERIC(10, 2), channel VARCHAR(10));
INSERT INTO orders VALUES (1, 1, '2024-01-10', 'P', 10.50, 'web'), (2, 1, '2024-01-31', 'P', 20.00, 'shop'),
    (3, 2, '2024-02-01', 'P', 5.25, 'web'), (4, 2, '2024-02-29', 'V', 99.00, 'web'), (5, 3, '2024-02-29', 'P', 7.75, 'mail'),
    (6, 3, '2024-04-15', 'P', 30.00, 'web'), (7, 4, '2024-04-30', 'P', 4.00, NULL), (8, 1, '2024-05-06', 'O', 12.00, 'shop'),
    (9, 2, '2024-05-12', 'P', 8.00, 'shop'), (10, 1, '2025-01-02', 'P', 6.00, 'web'), (11, NULL, '2025-01-05', 'P', 3.00, 'web');
CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER, day DATE, amount NUMERIC(10, 2));
INSERT INTO refunds VALUES (1, 1, '2024-01-20', 2.50), (2, 1, '2024-02-02', 1.00), (3, 6, '2024-05-01', 30.00),
    (4, 9, '2024-06-01', 3.00), (5, 2, '2024-02-28', 5.00);
CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR(20), genre VARCHAR(10));
INSERT INTO products VALUES (1, 'Red', 'Rock'), (2, 'Blue', 'Jazz'), (3, 'Green', 'Rock'), (4, 'Grey', 'Folk');
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER, product_id INTEGER, qty INTEGER, price NUMERIC(10, 2));
INSERT INTO items VALUES (1, 1, 1, 1, 5.00), (2, 1, 2, 1, 5.50), (3, 2, 1, 4, 5.00), (4, 3, 3, 1, 5.25), (5, 4, 2, 18, 5.50),
    (6, 5, 2, 1, 7.75), (7, 6, 1, 2, 10.00), (8, 6, 3, 1, 10.00), (9, 9, 3, 1, 8.00), (10, 10, 1, 1, 6.00);
CREATE TABLE balances (account INTEGER, branch VARCHAR(10), day DATE, amount NUMERIC(10, 2), PRIMARY KEY (account, day));
INSERT INTO balances VALUES (1, 'north', '2024-01-15', 100), (1, 'north', '2024-01-31', 120), (2, 'north', '2024-01-31', 50),
    (3, 'south', '2024-01-30', 70), (1, 'north', '2024-02-29', 90), (3, 'south', '2024-02-29', 75), (2, 'north', '2024-02-28', 55),
    (1, 'north', '2024-04-30', 10), (3, 'south', '2024-04-01', 5);
CREATE TABLE spend (id INTEGER PRIMARY KEY, day DATE, channel VARCHAR(10), amount NUMERIC(10, 2));
INSERT INTO spend VALUES (1, '2024-01-01', 'web', 4.00), (2, '2024-01-01', 'radio', 9.00), (3, '2024-02-01', 'web', 6.00),
    (4, '2024-04-01', 'mail', 2.00), (5, '2024-05-01', 'radio', 1.00);
