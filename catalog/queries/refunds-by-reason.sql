---
question: What were the reasons for refunds in {year}?
synonyms:
  - refunds by reason in {year}
  - why were refunds approved in {year}
  - approved refunds per reason for {year}
  - how much was refunded by reason in {year}
description: Approved refunds by their reason, in the year of the decision.
database: music_store
parameters:
  year:
    type: integer
    allowed: [2023, 2024, 2025]
verified: {by: Customer Support, on: 2026-01-12}
---
SELECT rsn_cd AS reason_code,
  CASE rsn_cd
    WHEN 'DUP' THEN 'bought twice'
    WHEN 'ACC' THEN 'bought by accident'
    WHEN 'DEF' THEN 'defective'
    WHEN 'NRC' THEN 'parcel not received'
    WHEN 'DMG' THEN 'parcel damaged'
    ELSE 'other'
  END AS reason,
  COUNT(*) AS refunds, ROUND(SUM(amount), 2) AS amount
FROM refunds
WHERE refund_stat = 'approved' AND CAST(strftime('%Y', decided_on) AS INTEGER) = :year
GROUP BY rsn_cd
ORDER BY amount DESC
