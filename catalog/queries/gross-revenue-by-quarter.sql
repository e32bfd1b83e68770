---
question: What was the gross revenue by quarter in {year}?
synonyms:
  - quarterly gross revenue in {year}
  - gross revenue per quarter of {year}
  - revenue by quarter in {year}
  - how did gross revenue develop by quarter in {year}
description: The sum of paid invoices, after discounts and with the contained tax, by fiscal quarter.
database: music_store
parameters:
  year:
    type: integer
    allowed: [2023, 2024, 2025]
verified: {by: Finance, on: 2026-01-12}
---
SELECT :year || '-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) AS quarter, ROUND(SUM(total), 2) AS gross_revenue
FROM invoices
WHERE stat_cd = 'P' AND CAST(strftime('%Y', invoice_date) AS INTEGER) = :year
GROUP BY quarter
ORDER BY quarter
