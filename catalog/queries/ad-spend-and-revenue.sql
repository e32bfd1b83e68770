---
question: Compare ad spend with revenue per channel by month
synonyms:
  - ad spend and revenue by marketing channel and month
  - monthly advertising spending against revenue per channel
  - compare advertising spend and web revenue for each channel by month
description: >-
  October to December 2025, the months of the web metrics, in the four countries that they cover. Web revenue counts open and written-off
  invoices too. Channels without paid advertising have no spend.
verified: {by: Marketing, on: 2026-01-12}
---
SELECT w.month, w.channel, s.spend, w.revenue
FROM (
  SELECT substr(CAST(date AS VARCHAR), 1, 7) AS month, channel, ROUND(SUM(revenue_usd), 2) AS revenue
  FROM web_metrics.web_metrics
  GROUP BY substr(CAST(date AS VARCHAR), 1, 7), channel
) AS w
LEFT JOIN (
  SELECT substr(CAST(month AS VARCHAR), 1, 7) AS month, channel, ROUND(SUM(spend_usd), 2) AS spend
  FROM ad_spend.ad_spend
  WHERE country IN ('US', 'DE', 'BR', 'GB')
  GROUP BY substr(CAST(month AS VARCHAR), 1, 7), channel
) AS s ON s.month = w.month AND s.channel = w.channel
ORDER BY w.month, w.channel
