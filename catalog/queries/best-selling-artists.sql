---
question: Which artists sold best in {country} in {year}?
synonyms:
  - best-selling artists in {country} in {year}
  - which artists earned the most revenue in {country} in {year}
  - top artists by revenue in {country} for {year}
  - which artists made the most money in {country} in {year}
  - most successful artists in {country} during {year}
description: >-
  Revenue of the lines of paid invoices, before discounts, by the billing country; the ten artists with the most.
database: music_store
parameters:
  country:
    type: text
    description: the billing country
    column: music_store.countries.name
  year:
    type: integer
    description: the year of the purchase
    allowed: [2023, 2024, 2025]
verified: {by: Revenue Analytics, on: 2026-01-12}
---
SELECT a.name AS artist, ROUND(SUM(l.unit_price * l.invln_qty), 2) AS revenue
FROM invoices AS i
JOIN countries AS k ON k.country_cd = i.bill_cntry
JOIN invoice_lines AS l ON l.invoice_id = i.invoice_id
JOIN tracks AS t ON t.track_id = l.track_id
JOIN albums AS b ON b.album_id = t.album_id
JOIN artists AS a ON a.artist_id = b.artist_id
WHERE i.stat_cd = 'P'
  AND k.name = :country
  AND CAST(strftime('%Y', i.invoice_date) AS INTEGER) = :year
GROUP BY a.artist_id, a.name
ORDER BY revenue DESC, a.name
LIMIT 10
