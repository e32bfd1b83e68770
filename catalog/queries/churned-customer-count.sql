---
question: How many customers have churned?
synonyms:
  - number of churned customers
  - how many churned customers are there
  - how many customers did we lose
  - count of churned customers
description: >-
  Customers who once had a paid invoice and had none in the last two full quarters before the reporting date 2025-12-31.
database: music_store
verified: {by: Finance, on: 2026-01-12}
---
SELECT COUNT(*) AS churned_customers
FROM (
  SELECT customer_id
  FROM invoices
  WHERE stat_cd = 'P'
  GROUP BY customer_id
  HAVING MAX(invoice_date) < '2025-07-01'
) AS churned
