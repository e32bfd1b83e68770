---
question: How many VIP customers are there?
synonyms:
  - number of VIP customers
  - count of VIPs
  - how many customers have VIP status
  - how many customers are VIPs
  - how many VIP customers does the shop have
description: >-
  By the business rules: paid invoices of at least 45.00 USD in total in the last four full quarters before the reporting date 2025-12-31,
  and paid invoices in at least three of them. Staff is never VIP.
database: music_store
verified: {by: Finance, on: 2026-01-12}
---
SELECT COUNT(*) AS vip_customers
FROM (
  SELECT c.customer_id
  FROM customers AS c
  JOIN invoices AS i ON i.customer_id = c.customer_id
  WHERE i.stat_cd = 'P'
    AND c.cust_seg <> 'STF'
    AND i.invoice_date BETWEEN '2025-01-01' AND '2025-12-31'
  GROUP BY c.customer_id
  HAVING SUM(i.total) >= 45.00
    AND COUNT(DISTINCT (CAST(strftime('%m', i.invoice_date) AS INTEGER) + 2) / 3) >= 3
) AS vip
