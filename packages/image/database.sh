#!/bin/sh
# The rows of the example, and a role that may only read them. PostgreSQL's image runs it once, when the volume is new.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$READER_PASSWORD" --username=postgres --dbname=shop <<'SQL'
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL, country text NOT NULL);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, ordered_on date NOT NULL,
                     amount numeric(10, 2) NOT NULL, state text NOT NULL);
COMMENT ON COLUMN orders.state IS 'open, paid or cancelled';
INSERT INTO customers VALUES (1, 'Ana Lima', 'Brazil'), (2, 'Jonas Weber', 'Germany'), (3, 'Mia Rossi', 'Italy');
INSERT INTO orders VALUES (1, 1, '2026-01-14', 120.00, 'paid'), (2, 1, '2026-02-03', 80.50, 'paid'),
                          (3, 2, '2026-02-19', 45.00, 'cancelled'), (4, 3, '2026-03-08', 210.25, 'paid');
CREATE ROLE reader LOGIN PASSWORD :'password';
GRANT SELECT ON customers, orders TO reader;
ALTER ROLE reader SET default_transaction_read_only = on;
SQL
