---
question: What is the bounce rate by marketing channel?
synonyms:
  - bounce rate per channel
  - average bounce rate for each marketing channel
  - which marketing channel has the highest bounce rate
description: Fourth quarter of 2025, each rate weighted by its sessions, the highest first.
database: web_metrics
verified: {by: Marketing, on: 2026-01-12}
---
SELECT channel, ROUND(SUM(bounce_rate * sessions) / SUM(sessions), 4) AS bounce_rate, SUM(sessions) AS sessions
FROM web_metrics
GROUP BY channel
ORDER BY bounce_rate DESC
