CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40), country VARCHAR(40), tier VARCHAR(10), zip VARCHAR(10), joined VARCHAR(20), is_active INTEGER);
INSERT INTO customers VALUES
 (1, 'Ada', 'Oslo', 'Norway', 'vip', '01234', '2023-01-15', 1),
 (2, 'Bob', 'Bergen', 'Norway', 'vip', '05003', '2023-02-20', 1),
 (3, 'Cyd', 'Stockholm', 'Sweden', 'basic', '11120', '2023-03-05', 1),
 (4, 'Dan', 'Aarhus', 'Denmark', 'basic', '08000', '2023-03-30', 0),
 (5, 'Eve', 'Oslo', 'Norway', 'basic', '01250', '2024-01-10', 1),
 (6, 'Fay', 'Malmo', 'Sweden', 'trial', '21115', '2024-02-11', 1),
 (7, 'Gus', 'oslo ', NULL, 'trial', '01299', '2024-05-12', 0),
 (8, 'Hal', 'Kiruna', NULL, 'basic', '98130', '2024-06-01', 1);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), status VARCHAR(20) NOT NULL, total NUMERIC(10, 2) NOT NULL, placed VARCHAR(30) NOT NULL);
INSERT INTO orders VALUES
 (1, 1, 'Paid', 40.00, '2024-01-03 09:30:00'), (2, 1, 'Paid', 25.50, '2024-01-31 18:00:00'),
 (3, 2, 'Open', 13.25, '2024-02-02 11:00:00'), (4, 3, 'Paid', 99.00, '2024-02-29 23:10:00'),
 (5, 3, 'Cancelled', 12.00, '2024-03-01 00:00:00'), (6, 5, 'Paid', 70.00, '2024-03-15 08:15:00'),
 (7, 5, 'Open', 8.75, '2024-03-31 16:45:00'), (8, 6, 'Paid', 54.00, '2024-04-04 10:00:00'),
 (9, NULL, 'Open', 5.00, '2024-04-05 12:00:00'), (10, 2, 'Paid', 61.00, '2024-05-06 13:00:00');
CREATE TABLE products (id INTEGER PRIMARY KEY, title VARCHAR(40) NOT NULL, category VARCHAR(20) NOT NULL, weight VARCHAR(10), list_price VARCHAR(10));
INSERT INTO products VALUES
 (1, 'Lamp', 'Home', '95', '12.50'), (2, 'Chair', 'Home', '1200', '80'), (3, 'Pen', 'Office', '9', '1.20'),
 (4, 'Desk', 'Office', '25000', '1,450'), (5, 'Mug', 'Kitchen', '310', 'n/a'), (6, 'Pan', 'Kitchen', '1100', '33');
CREATE TABLE items (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), product_id INTEGER NOT NULL REFERENCES products (id), qty INTEGER NOT NULL, price NUMERIC(10, 2) NOT NULL);
INSERT INTO items VALUES
 (1, 1, 1, 2, 12.50), (2, 1, 3, 10, 1.50), (3, 2, 5, 3, 8.50), (4, 3, 3, 5, 1.20), (5, 3, 5, 1, 7.25), (6, 4, 2, 1, 80.00),
 (7, 4, 1, 1, 12.50), (8, 4, 3, 5, 1.30), (9, 5, 1, 1, 12.00), (10, 6, 6, 2, 33.00), (11, 6, 3, 2, 2.00), (12, 7, 5, 1, 8.75),
 (13, 8, 6, 1, 33.00), (14, 8, 5, 2, 10.50), (15, 9, 3, 4, 1.25), (16, 10, 1, 4, 12.50), (17, 10, 3, 8, 1.375);
CREATE TABLE payments (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id), amount NUMERIC(10, 2) NOT NULL, method VARCHAR(10) NOT NULL, paid_on VARCHAR(20) NOT NULL);
INSERT INTO payments VALUES
 (1, 1, 20.00, 'card', '01/05/2024'), (2, 1, 20.00, 'card', '01/20/2024'), (3, 2, 25.50, 'cash', '02/01/2024'), (4, 4, 99.00, 'card', '03/03/2024'),
 (5, 6, 35.00, 'card', '03/16/2024'), (6, 6, 35.00, 'wire', '04/16/2024'), (7, 8, 54.00, 'cash', '04/20/2024'), (8, 10, 61.00, 'wire', '12/06/2024');
CREATE TABLE airports (code VARCHAR(10) PRIMARY KEY, City VARCHAR(40) NOT NULL, country VARCHAR(10) NOT NULL);
INSERT INTO airports VALUES ('ABR', 'Aberdeen ', 'US '), ('ABZ', 'Aberdeen ', 'UK '), ('BGO', 'Bergen ', 'NO '), ('OSL', 'Oslo ', 'NO ');
CREATE TABLE airlines (uid INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, code VARCHAR(10) NOT NULL);
INSERT INTO airlines VALUES (1, 'Blue Air', 'BLU'), (2, 'Nordic Wings', 'NOW'), (3, 'Skyline', 'SKY');
CREATE TABLE flights (id INTEGER PRIMARY KEY, airline INTEGER NOT NULL REFERENCES airlines (uid), source VARCHAR(10) NOT NULL, dest VARCHAR(10) NOT NULL, delay VARCHAR(10) NOT NULL, carrier VARCHAR(10) NOT NULL, stamp INTEGER NOT NULL);
INSERT INTO flights VALUES
 (1, 1, ' ABR', ' OSL', '5', 'blu', 1704272400), (2, 1, ' OSL', ' ABR', '12', 'blu', 1704358800), (3, 2, ' BGO', ' OSL', '100', 'now', 1706778000),
 (4, 2, ' OSL', ' ABZ', '7', 'now', 1709283600), (5, 3, ' ABZ', ' BGO', '30', 'sky', 1711962000), (6, 3, ' OSL', ' BGO', '8', 'sky', 1714554000);
CREATE TABLE contestants (number INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
INSERT INTO contestants VALUES (1, 'Kim'), (2, 'Lou'), (3, 'Max');
CREATE TABLE areas (code INTEGER PRIMARY KEY, state VARCHAR(2) NOT NULL);
INSERT INTO areas VALUES (212, 'NY'), (315, 'NY'), (516, 'NY'), (213, 'CA'), (310, 'CA'), (512, 'TX');
CREATE TABLE votes (id INTEGER PRIMARY KEY, state VARCHAR(2) NOT NULL, contestant INTEGER NOT NULL REFERENCES contestants (number));
INSERT INTO votes VALUES (1, 'NY', 1), (2, 'NY', 2), (3, 'CA', 1), (4, 'CA', 3), (5, 'TX', 1), (6, 'TX', 2), (7, 'TX', 3), (8, 'TX', 1), (9, 'TX', 2);
CREATE TABLE employees (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, boss_id INTEGER REFERENCES employees (id), office VARCHAR(20) NOT NULL, salary INTEGER NOT NULL, bonus INTEGER);
INSERT INTO employees VALUES (1, 'Nia', NULL, 'North', 90, 10), (2, 'Olu', 1, 'North', 70, NULL), (3, 'Pat', 1, 'South', 60, 5), (4, 'Quin', 2, 'South', 55, NULL), (5, 'Rae', 2, 'north', 50, 3);
CREATE TABLE codes (customer_code VARCHAR(10) NOT NULL, discount INTEGER NOT NULL);
INSERT INTO codes VALUES ('C-001', 5), ('C-002', 10), ('C-003', 15);
CREATE TABLE accounts (code VARCHAR(10) PRIMARY KEY, owner VARCHAR(20) NOT NULL);
INSERT INTO accounts VALUES ('c001', 'Ada'), ('c002', 'Bob'), ('c003', 'Cyd');
CREATE TABLE secret (id INTEGER PRIMARY KEY, word VARCHAR(20));
INSERT INTO secret VALUES (1, 'swordfish');
