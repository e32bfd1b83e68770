//! Plans over the sample catalog: their results match handwritten queries.

use std::{path::Path, sync::Arc};

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_executor::{Executor, RunOptions, read_plan};
use serde_json::{Value, json};

/// The handwritten query for VIP customers at the reporting date.
const VIP: &str = "SELECT i.customer_id FROM music_store.invoices i JOIN music_store.customers c USING (customer_id)
    WHERE i.stat_cd = 'P' AND i.invoice_date LIKE '2025%' AND c.cust_seg <> 'STF' GROUP BY i.customer_id
    HAVING SUM(i.total) >= 45 AND COUNT(DISTINCT (CAST(strftime('%m', i.invoice_date) AS INTEGER) + 2) / 3) >= 3";

/// The steps of each plan, and the equivalent handwritten query.
fn plans() -> Vec<(&'static str, Value, String)> {
    vec![
        (
            "spending of a segment by quarter",
            json!([{"metrics": {"metrics": ["gross_revenue"], "segments": ["vip_customer"], "grain": "quarter",
                "filters": ["time = 2025"]}}]),
            format!(
                "SELECT '2025-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3), SUM(total)
                 FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date LIKE '2025%' AND customer_id IN ({VIP})
                 GROUP BY 1 ORDER BY 1"
            ),
        ),
        (
            "a segment and a verified query in FROM",
            json!([{"sql": "SELECT c.cust_seg, COUNT(*) AS customers FROM segments.vip_customer v
                JOIN music_store.customers c ON c.customer_id = v.customer_id GROUP BY c.cust_seg ORDER BY 1"}]),
            format!(
                "SELECT cust_seg, COUNT(*) FROM music_store.customers WHERE customer_id IN ({VIP}) GROUP BY 1 ORDER BY 1"
            ),
        ),
        (
            "steps over files of several databases",
            json!([
                {"sql": "SELECT SUM(revenue_usd) AS revenue FROM web_metrics.web_metrics WHERE channel = 'paid_search'
                    AND date BETWEEN '2025-12-01' AND '2025-12-31'"},
                {"sql": "SELECT SUM(spend_usd) AS spend FROM ad_spend.ad_spend
                    WHERE channel = 'paid_search' AND month = '2025-12-01'"},
                {"sql": "SELECT r.revenue / s.spend AS return_on_ad_spend FROM step_1 r CROSS JOIN step_2 s"}]),
            "SELECT (SELECT SUM(revenue_usd) FROM web_metrics.web_metrics WHERE channel = 'paid_search'
                 AND date BETWEEN '2025-12-01' AND '2025-12-31')
             / (SELECT SUM(spend_usd) FROM ad_spend.ad_spend WHERE channel = 'paid_search' AND month = '2025-12-01')"
                .to_owned(),
        ),
        (
            "the refunds of the ten customers that paid most",
            json!([
                {"sql": "SELECT customer_id, SUM(total) AS revenue FROM music_store.invoices WHERE stat_cd = 'P'
                    GROUP BY customer_id ORDER BY revenue DESC LIMIT 10"},
                {"sql": "SELECT t.customer_id, t.revenue, SUM(r.amount) AS refunded FROM step_1 t
                    LEFT JOIN music_store.invoices i ON i.customer_id = t.customer_id
                    LEFT JOIN music_store.refunds r ON r.invoice_id = i.invoice_id AND r.refund_stat = 'approved'
                    GROUP BY t.customer_id, t.revenue ORDER BY t.revenue DESC"}]),
            "SELECT t.customer_id, t.revenue, (SELECT SUM(r.amount) FROM music_store.refunds r
                 JOIN music_store.invoices i USING (invoice_id)
                 WHERE i.customer_id = t.customer_id AND r.refund_stat = 'approved')
             FROM (SELECT customer_id, SUM(total) AS revenue FROM music_store.invoices WHERE stat_cd = 'P'
                 GROUP BY 1 ORDER BY 2 DESC LIMIT 10) t ORDER BY 2 DESC"
                .to_owned(),
        ),
        (
            "parcels by the city of a warehouse that is in a file",
            json!([{"sql": "SELECT w.city, COUNT(*) AS parcels FROM music_store.shipments s
                JOIN warehouses.warehouses w ON w.code = s.whse_cd GROUP BY w.city ORDER BY 1"}]),
            "SELECT w.city, COUNT(*) FROM music_store.shipments s JOIN warehouses.warehouses w ON w.code = s.whse_cd
             GROUP BY 1 ORDER BY 1"
                .to_owned(),
        ),
        (
            "a verified query with a value",
            json!([{"verified_query": {"name": "gross-revenue-by-quarter", "parameters": {"year": 2024}}}]),
            "SELECT '2024-Q' || ((CAST(strftime('%m', invoice_date) AS INTEGER) + 2) / 3), SUM(total)
             FROM music_store.invoices WHERE stat_cd = 'P' AND invoice_date LIKE '2024%' GROUP BY 1 ORDER BY 1"
                .to_owned(),
        ),
    ]
}

#[tokio::test]
async fn plans_match_handwritten_queries() {
    let state = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    let options = CatalogOptions { state: Some(state.path().to_owned()), ..CatalogOptions::default() };
    let catalog = Arc::new(Catalog::open(&file, options).await.unwrap().0);
    let (engine, executor) = (catalog.engine(), Executor::new(catalog));
    for (name, mut steps, sql) in plans() {
        for (at, step) in steps.as_array_mut().unwrap().iter_mut().enumerate() {
            (step["number"], step["goal"]) = (json!(at + 1), json!(name));
        }
        let plan = json!({"question": name, "plan": {"steps": steps}});
        let run = executor.run(read_plan(&plan.to_string()).unwrap(), RunOptions::default()).await;
        assert!(run.ok, "{name}: {}", run.text());
        let own = &run.result_step().unwrap().rows;
        let expected = engine.run(&sql, None, 1_000).await.unwrap_or_else(|failure| panic!("{name}: {failure}"));
        let expected = expected.rows.rows;
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(own.len(), expected.len(), "{name}: {}", run.text());
        for (own, expected) in own.iter().zip(&expected) {
            assert!(own.iter().zip(expected).all(|(a, b)| is_same(a, b)), "{name}: {own:?} for {expected:?}");
        }
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(1.0),
        _ => a == b,
    }
}
