---
question: What was the net revenue in {year}?
synonyms:
  - net revenue of {year}
  - total net revenue for {year}
  - how much net revenue did we make in {year}
  - how high was the net revenue in {year}
description: >-
  Paid invoices without the contained tax, less refunds approved in that year without theirs, whenever the purchase was.
database: music_store
parameters:
  year:
    type: integer
    allowed: [2023, 2024, 2025]
verified: {by: Finance, on: 2026-01-12}
---
SELECT ROUND(
  (SELECT SUM(total - tax_amt) FROM invoices
   WHERE stat_cd = 'P' AND CAST(strftime('%Y', invoice_date) AS INTEGER) = :year)
  - (SELECT COALESCE(SUM(amount - tax_amt), 0) FROM refunds
     WHERE refund_stat = 'approved' AND CAST(strftime('%Y', decided_on) AS INTEGER) = :year), 2) AS net_revenue
