-- The schema of music_store.sqlite; generate.py creates the database from it.
-- Dates are ISO text (YYYY-MM-DD). Amounts are US dollars.

CREATE TABLE countries (
  country_cd CHAR(2) NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  region CHAR(4) NOT NULL,
  currency CHAR(3) NOT NULL,
  vat_pct INTEGER NOT NULL
);

CREATE TABLE employees (
  employee_id INTEGER NOT NULL PRIMARY KEY,
  first_name VARCHAR(40) NOT NULL,
  last_name VARCHAR(40) NOT NULL,
  job_title VARCHAR(60) NOT NULL,
  reports_to INTEGER REFERENCES employees (employee_id),
  hire_date DATE NOT NULL,
  email VARCHAR(80) NOT NULL UNIQUE,
  country_cd CHAR(2) NOT NULL REFERENCES countries (country_cd)
);

CREATE TABLE customers (
  customer_id INTEGER NOT NULL PRIMARY KEY,
  first_name VARCHAR(40) NOT NULL,
  last_name VARCHAR(40) NOT NULL,
  email VARCHAR(80) NOT NULL,
  country_cd CHAR(2) NOT NULL REFERENCES countries (country_cd),
  city VARCHAR(40) NOT NULL,
  cust_seg CHAR(3) NOT NULL CHECK (cust_seg IN ('CON', 'PRO', 'EDU', 'STF')),
  support_rep_id INTEGER REFERENCES employees (employee_id),
  signup_date DATE NOT NULL,
  acq_chnl VARCHAR(20) NOT NULL,
  mkt_optin BOOLEAN NOT NULL
);

CREATE TABLE genres (
  genre_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  parent_genre_id INTEGER REFERENCES genres (genre_id)
);

CREATE TABLE media_types (
  media_type_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(60) NOT NULL,
  fmt_cd CHAR(4) NOT NULL,
  is_lossless BOOLEAN NOT NULL,
  is_physical BOOLEAN NOT NULL
);

CREATE TABLE labels (
  label_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  country_cd CHAR(2) NOT NULL REFERENCES countries (country_cd),
  rylty_pct INTEGER NOT NULL
);

CREATE TABLE artists (
  artist_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(120) NOT NULL,
  country_cd CHAR(2) NOT NULL REFERENCES countries (country_cd),
  debut_year INTEGER NOT NULL
);

CREATE TABLE albums (
  album_id INTEGER NOT NULL PRIMARY KEY,
  title VARCHAR(160) NOT NULL,
  artist_id INTEGER NOT NULL REFERENCES artists (artist_id),
  label_id INTEGER NOT NULL REFERENCES labels (label_id),
  release_date DATE NOT NULL
);

CREATE TABLE tracks (
  track_id INTEGER NOT NULL PRIMARY KEY,
  title VARCHAR(160) NOT NULL,
  album_id INTEGER NOT NULL REFERENCES albums (album_id),
  genre_id INTEGER NOT NULL REFERENCES genres (genre_id),
  media_type_id INTEGER NOT NULL REFERENCES media_types (media_type_id),
  trk_no INTEGER NOT NULL,
  dur_ms INTEGER NOT NULL,
  unit_price NUMERIC(10, 2) NOT NULL
);

CREATE TABLE promotions (
  promo_id INTEGER NOT NULL PRIMARY KEY,
  code VARCHAR(20) NOT NULL UNIQUE,
  description VARCHAR(120) NOT NULL,
  disc_pct INTEGER NOT NULL,
  starts_on DATE NOT NULL,
  ends_on DATE
);

CREATE TABLE invoices (
  invoice_id INTEGER NOT NULL PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  invoice_date DATE NOT NULL,
  stat_cd CHAR(1) NOT NULL CHECK (stat_cd IN ('P', 'O', 'V', 'W')),
  pay_mthd VARCHAR(6) NOT NULL,
  promo_id INTEGER REFERENCES promotions (promo_id),
  bill_cntry CHAR(2) NOT NULL REFERENCES countries (country_cd),
  bill_ccy CHAR(3) NOT NULL,
  subtotal NUMERIC(10, 2) NOT NULL,
  disc_amt NUMERIC(10, 2) NOT NULL,
  tax_amt NUMERIC(10, 2) NOT NULL,
  total NUMERIC(10, 2) NOT NULL
);

CREATE TABLE invoice_lines (
  invoice_line_id INTEGER NOT NULL PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  track_id INTEGER NOT NULL REFERENCES tracks (track_id),
  unit_price NUMERIC(10, 2) NOT NULL,
  invln_qty INTEGER NOT NULL
);

CREATE TABLE refunds (
  refund_id INTEGER NOT NULL PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  requested_on DATE NOT NULL,
  decided_on DATE,
  amount NUMERIC(10, 2) NOT NULL,
  tax_amt NUMERIC(10, 2) NOT NULL,
  rsn_cd CHAR(3) NOT NULL,
  refund_stat VARCHAR(10) NOT NULL CHECK (refund_stat IN ('approved', 'rejected', 'pending')),
  handled_by INTEGER REFERENCES employees (employee_id)
);

CREATE TABLE shipments (
  shipment_id INTEGER NOT NULL PRIMARY KEY,
  invoice_id INTEGER NOT NULL REFERENCES invoices (invoice_id),
  whse_cd CHAR(4) NOT NULL,
  carrier VARCHAR(40) NOT NULL,
  shipped_on DATE NOT NULL,
  delivered_on DATE
);

CREATE TABLE gift_cards (
  gift_card_id INTEGER NOT NULL PRIMARY KEY,
  purchaser_customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  recipient_email VARCHAR(80) NOT NULL,
  face_value NUMERIC(10, 2) NOT NULL,
  issued_on DATE NOT NULL,
  expires_on DATE NOT NULL,
  redeemed_invoice_id INTEGER REFERENCES invoices (invoice_id),
  balance NUMERIC(10, 2) NOT NULL
);

CREATE TABLE reviews (
  review_id INTEGER NOT NULL PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  album_id INTEGER NOT NULL REFERENCES albums (album_id),
  rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
  body TEXT NOT NULL,
  review_date DATE NOT NULL,
  hlpf_cnt INTEGER NOT NULL
);

CREATE TABLE playlists (
  playlist_id INTEGER NOT NULL PRIMARY KEY,
  name VARCHAR(120) NOT NULL,
  owner_customer_id INTEGER REFERENCES customers (customer_id),
  is_public BOOLEAN NOT NULL,
  created_on DATE NOT NULL
);

CREATE TABLE playlist_tracks (
  playlist_id INTEGER NOT NULL REFERENCES playlists (playlist_id),
  track_id INTEGER NOT NULL REFERENCES tracks (track_id),
  position INTEGER NOT NULL,
  PRIMARY KEY (playlist_id, track_id)
) WITHOUT ROWID;

CREATE TABLE subscriptions (
  subscription_id INTEGER NOT NULL PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  plan_cd VARCHAR(4) NOT NULL CHECK (plan_cd IN ('SOLO', 'DUO', 'FAM')),
  started_on DATE NOT NULL,
  ended_on DATE,
  mthly_fee NUMERIC(6, 2) NOT NULL
);

CREATE INDEX invoices_by_customer ON invoices (customer_id);
CREATE INDEX invoice_lines_by_invoice ON invoice_lines (invoice_id);
