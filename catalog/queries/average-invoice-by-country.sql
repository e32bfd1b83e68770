---
question: What is the average invoice total by country?
synonyms:
  - average order value per country
  - average invoice amount for each country
  - mean invoice value by billing country
  - AOV by country
description: Paid invoices of all years, by the billing country; the highest average first.
database: music_store
verified: {by: Finance, on: 2026-01-12}
---
SELECT k.name AS country, ROUND(AVG(i.total), 2) AS average_total, COUNT(*) AS invoices
FROM invoices AS i
JOIN countries AS k ON k.country_cd = i.bill_cntry
WHERE i.stat_cd = 'P'
GROUP BY k.country_cd, k.name
ORDER BY average_total DESC, k.name
