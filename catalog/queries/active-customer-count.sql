---
question: How many active customers are there?
synonyms:
  - number of active customers
  - how many customers are active
  - count of active customers
  - active customer base
description: Customers with at least one paid invoice in the last two full quarters before the reporting date 2025-12-31.
database: music_store
verified: {by: Finance, on: 2026-01-12}
---
SELECT COUNT(DISTINCT customer_id) AS active_customers
FROM invoices
WHERE stat_cd = 'P' AND invoice_date BETWEEN '2025-07-01' AND '2025-12-31'
