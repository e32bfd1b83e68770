---
question: What is the exchange rate of the {currency} on {day}?
synonyms:
  - how many {currency} for one US dollar on {day}
  - rate of the {currency} against the dollar on {day}
  - how many {currency} did a dollar buy on {day}
  - dollar exchange rate in {currency} on {day}
  - USD to {currency} on {day}
  - what was one dollar worth in {currency} on {day}
description: Units of the currency for one US dollar. On a weekend the rate of the Friday before applies, as the business rules say.
database: exchange_rates
parameters:
  currency:
    type: text
    description: the code of the currency
    allowed:
      AUD: [Australian dollar, Australian dollars]
      BRL: [Brazilian real, Brazilian reais, real, reais]
      CAD: [Canadian dollar, Canadian dollars]
      EUR: [euro, euros]
      GBP: [British pound, British pounds, pound sterling, pound, pounds, sterling]
      INR: [Indian rupee, Indian rupees, rupee, rupees]
      JPY: [Japanese yen, yen]
      SEK: [Swedish krona, Swedish kronor, krona, kronor]
  day:
    type: date
    description: the day
    column: exchange_rates.exchange_rates.rate_date
verified: {by: Finance, on: 2026-01-12}
---
SELECT rate_date, quote_ccy AS currency, rate
FROM exchange_rates
WHERE quote_ccy = :currency AND rate_date <= :day
ORDER BY rate_date DESC
LIMIT 1
