//! Plans as a language model wrote them for questions over the sample estate, run step by step: what they find is what a query
//! written by hand finds.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, sync::Arc};

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_executor::{Executor, RunOptions, read_plan};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The name of the plan, the columns of its result that count, and the query.
const PLANS: [(&str, &[&str], &str); 22] = [
    (
        "vip_spending",
        &["quarter", "spending", "customers"],
        "WITH paid AS (SELECT * FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date LIKE '2025%'),
         vip AS (SELECT customer_id FROM paid JOIN music_store.customers USING (customer_id) WHERE cust_seg <> 'STF'
             GROUP BY customer_id HAVING SUM(total) >= 45
             AND COUNT(DISTINCT (CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) >= 3)
         SELECT '2025-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3), SUM(total), COUNT(DISTINCT customer_id)
         FROM paid JOIN vip USING (customer_id) GROUP BY 1 ORDER BY 1",
    ),
    (
        "artists_germany",
        &["name", "revenue"],
        "SELECT a.name, SUM(l.unit_price * l.invln_qty) FROM music_store.invoices i
         JOIN music_store.invoice_lines l USING (invoice_id) JOIN music_store.tracks t USING (track_id)
         JOIN music_store.albums b USING (album_id) JOIN music_store.artists a USING (artist_id)
         WHERE i.bill_cntry = 'DE' AND i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    ),
    (
        "return_on_ad_spend",
        &["return_on_ad_spend"],
        "SELECT (SELECT SUM(revenue_usd) FROM web_metrics.web_metrics WHERE channel = 'paid_search'
             AND date BETWEEN '2025-12-01' AND '2025-12-31')
         / (SELECT SUM(spend_usd) FROM ad_spend.ad_spend WHERE channel = 'paid_search' AND month = '2025-12-01')",
    ),
    (
        "channels",
        &["channel", "month", "spend", "revenue"],
        "SELECT COALESCE(s.channel, r.channel), COALESCE(s.month, r.month), s.spend, r.revenue FROM
         (SELECT channel, to_char(month, '%Y-%m') AS month, SUM(spend_usd) AS spend FROM ad_spend.ad_spend
             WHERE month >= '2025-10-01' GROUP BY 1, 2) s
         FULL JOIN (SELECT channel, to_char(date, '%Y-%m') AS month, SUM(revenue_usd) AS revenue
             FROM web_metrics.web_metrics WHERE date >= '2025-10-01' GROUP BY 1, 2) r
         ON s.channel = r.channel AND s.month = r.month ORDER BY 1, 2",
    ),
    (
        "net_revenue",
        &["quarter", "net_revenue"],
        "WITH sold AS (SELECT '2025-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3) AS quarter,
             SUM(total) - SUM(tax_amt) AS amount FROM music_store.invoices
             WHERE stat_cd = 'P' AND invoice_date LIKE '2025%' GROUP BY 1),
         back AS (SELECT '2025-Q' || ((CAST(strftime('%m', decided_on) AS INTEGER) + 2) / 3) AS quarter,
             SUM(amount - tax_amt) AS amount FROM music_store.refunds
             WHERE refund_stat = 'approved' AND decided_on LIKE '2025%' GROUP BY 1)
         SELECT sold.quarter, sold.amount - back.amount FROM sold JOIN back ON sold.quarter = back.quarter ORDER BY 1",
    ),
    (
        "order_value",
        &["country", "average_order_value"],
        "SELECT c.name, AVG(i.total) FROM music_store.invoices i JOIN music_store.countries c ON c.country_cd = i.bill_cntry
         WHERE i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        "top_customers_refunds",
        &["customer_id", "revenue", "refunded"],
        "SELECT t.customer_id, t.revenue, (SELECT SUM(r.amount) FROM music_store.refunds r
             JOIN music_store.invoices i USING (invoice_id)
             WHERE i.customer_id = t.customer_id AND r.refund_stat = 'approved')
         FROM (SELECT customer_id, SUM(total) AS revenue FROM music_store.invoices WHERE stat_cd = 'P'
             GROUP BY 1 ORDER BY 2 DESC LIMIT 10) t ORDER BY 2 DESC",
    ),
    (
        "euro",
        &["rate"],
        "SELECT rate FROM exchange_rates.exchange_rates WHERE quote_ccy = 'EUR' AND rate_date = '2024-03-04'",
    ),
    (
        "genre_share",
        &["genre", "percent"],
        "SELECT g.name, 100.0 * SUM(l.unit_price * l.invln_qty) / SUM(SUM(l.unit_price * l.invln_qty)) OVER ()
         FROM music_store.invoices i JOIN music_store.invoice_lines l USING (invoice_id)
         JOIN music_store.tracks t USING (track_id) JOIN music_store.genres g USING (genre_id)
         WHERE i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        "support",
        &["employee_id", "customers"],
        "SELECT support_rep_id, COUNT(*) FROM music_store.customers GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    (
        "warehouses",
        &["code", "city", "parcels"],
        "SELECT w.code, w.city, COUNT(*) FROM music_store.shipments s JOIN warehouses.warehouses w ON w.code = s.whse_cd
         GROUP BY 1, 2 ORDER BY 1",
    ),
    (
        "parcels_by_city",
        &["city", "parcels"],
        "SELECT w.city, COUNT(*) FROM music_store.shipments s JOIN warehouses.warehouses w ON w.code = s.whse_cd
         GROUP BY 1 ORDER BY 1",
    ),
    (
        "void_or_large",
        &["country", "invoices"],
        "SELECT bill_cntry, COUNT(*) FROM music_store.invoices
         WHERE stat_cd = 'V' OR total >= 10 AND invoice_date >= '2025-01-01'
         GROUP BY 1 HAVING SUM(total) > 100 OR bill_cntry IN ('PT', 'DK') ORDER BY 2 DESC, 1",
    ),
    (
        "german_artists",
        &["customers"],
        "SELECT COUNT(DISTINCT i.customer_id) FROM music_store.invoices i
         JOIN music_store.invoice_lines l USING (invoice_id) JOIN music_store.tracks t USING (track_id)
         JOIN music_store.albums b USING (album_id) JOIN music_store.artists a USING (artist_id)
         WHERE a.country_cd = 'DE' AND i.stat_cd = 'P' AND i.invoice_date LIKE '2025%'",
    ),
    (
        "german_artists_by_region",
        &["region", "buyers"],
        "SELECT c.region, COUNT(DISTINCT i.customer_id) FROM music_store.invoices i
         JOIN music_store.countries c ON c.country_cd = i.bill_cntry
         JOIN music_store.invoice_lines l USING (invoice_id) JOIN music_store.tracks t USING (track_id)
         JOIN music_store.albums b USING (album_id) JOIN music_store.artists a USING (artist_id)
         WHERE a.country_cd = 'DE' AND i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' GROUP BY 1 ORDER BY 1",
    ),
    (
        "subscribers",
        &["subscribers", "customers", "share"],
        "SELECT COUNT(DISTINCT s.customer_id), COUNT(DISTINCT c.customer_id),
         COUNT(DISTINCT s.customer_id) * 1.0 / COUNT(DISTINCT c.customer_id)
         FROM music_store.customers c LEFT JOIN music_store.subscriptions s ON s.customer_id = c.customer_id",
    ),
    (
        "delivery_days",
        &["days"],
        "SELECT AVG(julianday(s.delivered_on) - julianday(i.invoice_date)) FROM music_store.shipments s
         JOIN music_store.invoices i USING (invoice_id) WHERE s.delivered_on LIKE '2025%'",
    ),
    (
        "refunds_by_representative",
        &["last_name", "refunds"],
        "SELECT e.last_name, COUNT(*) FROM music_store.refunds r JOIN music_store.invoices i USING (invoice_id)
         JOIN music_store.customers c USING (customer_id) JOIN music_store.employees e ON e.employee_id = c.support_rep_id
         GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        "net_revenue_by_region",
        &["region", "net_revenue"],
        "WITH sold AS (SELECT c.region, SUM(i.total - i.tax_amt) AS amount FROM music_store.invoices i
             JOIN music_store.countries c ON c.country_cd = i.bill_cntry
             WHERE i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' GROUP BY 1),
         back AS (SELECT c.region, SUM(r.amount - r.tax_amt) AS amount FROM music_store.refunds r
             JOIN music_store.invoices i USING (invoice_id) JOIN music_store.countries c ON c.country_cd = i.bill_cntry
             WHERE r.refund_stat = 'approved' AND r.decided_on LIKE '2025%' GROUP BY 1)
         SELECT sold.region, sold.amount - back.amount FROM sold JOIN back ON sold.region = back.region ORDER BY 1",
    ),
    (
        "acquisition_cost",
        &["channel", "cost"],
        "SELECT s.channel, s.spend / n.accounts FROM
         (SELECT channel, SUM(spend_usd) AS spend FROM ad_spend.ad_spend
             WHERE month BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY 1) s
         JOIN (SELECT acq_chnl, COUNT(*) AS accounts FROM music_store.customers
             WHERE signup_date >= '2025-01-01' AND signup_date < '2026-01-01' GROUP BY 1) n
         ON s.channel = n.acq_chnl ORDER BY 1",
    ),
    (
        "on_time",
        &["carrier", "share"],
        "SELECT carrier, AVG(CASE WHEN julianday(delivered_on) - julianday(shipped_on) <= 7 THEN 1.0 ELSE 0 END)
         FROM music_store.shipments WHERE delivered_on LIKE '2025%' GROUP BY 1 ORDER BY 2 DESC",
    ),
    (
        "events_of_a_week",
        &["event", "events"],
        "SELECT event, COUNT(*) FROM clickstream.clickstream WHERE ts >= '2025-12-08' AND ts < '2025-12-15'
         GROUP BY 1 ORDER BY 1",
    ),
];

/// A step that is refused.
struct Refused {
    tables: &'static [&'static str],
    compute: &'static str,
    group_by: &'static [&'static str],
    code: &'static str,
    /// A part of what to do.
    advice: &'static str,
}

const REFUSED: [Refused; 3] = [
    // An invoice may have no promotion, and a promotion no invoice.
    Refused {
        tables: &["invoices", "promotions"],
        compute: "count(music_store.invoices.invoice_id) / count(distinct music_store.promotions.promo_id)",
        group_by: &[],
        code: "invalid_arguments",
        advice: "each in a step or a query of its own",
    },
    Refused {
        tables: &["refunds", "invoice_lines"],
        compute: "count(distinct music_store.refunds.refund_id)",
        group_by: &["invoice_lines.track_id"],
        code: "no_join",
        advice: "by invoices every row of refunds",
    },
    Refused {
        tables: &["refunds", "countries"],
        compute: "count(music_store.refunds.refund_id)",
        group_by: &["countries.region"],
        code: "ambiguous_join",
        advice: "in `columns`: ",
    },
];

/// The sample estate.
async fn open(state: &TempDir) -> Arc<Catalog> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let options = CatalogOptions { state: Some(state.path().to_owned()), ..CatalogOptions::default() };
    let (catalog, _) = Catalog::open(&root.join("catalog/catalog.yaml"), options).await.unwrap();
    Arc::new(catalog)
}

#[tokio::test]
async fn what_a_join_would_make_wrong_is_refused_with_what_to_do() {
    let state = tempfile::tempdir().unwrap();
    let executor = Executor::new(open(&state).await);
    let shop = |names: &[&str]| json!(names.iter().map(|name| format!("music_store.{name}")).collect::<Vec<_>>());
    for Refused { tables, compute, group_by, code, advice } in REFUSED {
        let step = json!({"number": 1, "goal": "Count", "tables": shop(tables), "compute": [compute], "group_by": shop(group_by)});
        let plan = json!({"question": "", "plan": {"steps": [step]}});
        let run = executor.run(read_plan(&plan.to_string()).unwrap(), RunOptions::default()).await;
        let error = run.steps[0].error.as_ref().unwrap_or_else(|| panic!("{tables:?}: {}", run.text()));
        assert_eq!(error.code, code, "{tables:?}: {error:?}");
        assert!(error.suggestion.as_ref().is_some_and(|text| text.contains(advice)), "{tables:?}: {error:?}");
    }
}

#[tokio::test]
async fn what_a_plan_finds_is_what_a_query_by_hand_finds() {
    let state = tempfile::tempdir().unwrap();
    let catalog = open(&state).await;
    let (engine, executor) = (catalog.engine(), Executor::new(catalog));
    let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    for (name, columns, sql) in PLANS {
        let text = fs::read_to_string(plans.join(format!("{name}.json"))).unwrap();
        let run = executor.run(read_plan(&text).unwrap(), RunOptions::default()).await;
        assert_eq!(run.stopped, None, "{name}: {}", run.text());
        assert!(run.unapplied.is_empty(), "{name}: {:?}", run.unapplied);
        let result = run.result_step().unwrap();
        let places: Vec<usize> =
            columns.iter().map(|column| result.columns.iter().position(|own| own == column).unwrap()).collect();
        let own: Vec<Vec<Value>> =
            result.rows.iter().map(|row| places.iter().map(|at| row[*at].clone()).collect()).collect();
        let expected =
            engine.run(sql, None, 1_000).await.unwrap_or_else(|failure| panic!("{name}: {failure}")).rows.rows;
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(own.len(), expected.len(), "{name}");
        for (own, expected) in own.iter().zip(&expected) {
            assert!(own.iter().zip(expected).all(|(a, b)| is_same(a, b)), "{name}: {own:?} for {expected:?}");
        }
        // Every query of the run can be run again by itself, but those over what other steps left.
        for step in run.steps.iter().filter(|step| step.step.inputs.is_empty()) {
            let Some(sql) = &step.sql else { continue };
            let again = engine.run(sql, step.database.as_deref(), 50_000).await.unwrap();
            assert_eq!(again.rows.rows, step.rows, "{name}: {sql}");
        }
        assert!(run.derivation.last().is_some_and(|last| !last.source.is_empty()), "{name}");
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
        _ => a == b,
    }
}
