---
question: Who are the VIP customers?
synonyms:
  - list the VIP customers
  - names of the VIP customers
  - VIP customers with their spending
  - customers with VIP status
description: >-
  By the business rules: paid invoices of at least 45.00 USD in total in the last four full quarters before the reporting date 2025-12-31,
  and paid invoices in at least three of them. Staff is never VIP. The largest spending first.
database: music_store
verified: {by: Finance, on: 2026-01-12}
---
SELECT c.customer_id, c.first_name, c.last_name, c.country_cd, ROUND(SUM(i.total), 2) AS spending
FROM customers AS c
JOIN invoices AS i ON i.customer_id = c.customer_id
WHERE i.stat_cd = 'P'
  AND c.cust_seg <> 'STF'
  AND i.invoice_date BETWEEN '2025-01-01' AND '2025-12-31'
GROUP BY c.customer_id, c.first_name, c.last_name, c.country_cd
HAVING SUM(i.total) >= 45.00
  AND COUNT(DISTINCT (CAST(strftime('%m', i.invoice_date) AS INTEGER) + 2) / 3) >= 3
ORDER BY spending DESC, c.customer_id
