//! Joins that a catalog declares are shown and used like the keys of a source.

use prospector_discovery::{
    Catalog, CatalogOptions, DiscoveryTools, Profile,
    prompt::{Instructions, PromptBuilder, PromptForm},
};
use prospector_llm::models::UNLISTED;
use serde_json::json;

const CATALOG: &str = "\
databases:
- {name: energy, path: '*.csv'}
entities:
- {name: customer, table: energy.customers, key: customer_no}
- {name: contract, table: energy.contracts, key: contract_no}
- {name: bill, table: energy.bills, key: bill_no}
- {name: outage, table: energy.outages, key: outage_id}
joins:
- {from: contract.Customer_No, to: customer.customer_no}
- {from: bill.contract_no, to: contract.contract_no}
metrics:
- {name: billed, entity: bill, aggregate: sum, expression: amount}
";

/// Opens a catalog of CSV files with declared joins.
pub(crate) async fn energy() -> (Catalog, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("customers.csv", "customer_no,customer_name,region\nK1,Ada,Nord\nK2,Ben,Mitte\n"),
        ("contracts.csv", "contract_no,customer_no,channel\nV1,K1,web\nV2,K2,shop\n"),
        ("bills.csv", "bill_no,contract_no,amount\nB1,V1,10\nB2,V2,20\n"),
        ("outages.csv", "outage_id,region,cause\n1,Nord,storm\n2,Mitte,damage\n"),
        ("catalog.yaml", CATALOG),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (catalog, problems) =
        Catalog::open(&folder.path().join("catalog.yaml"), CatalogOptions::default()).await.unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    (catalog, folder)
}

pub(crate) async fn describe(tools: &DiscoveryTools, id: &str) -> String {
    tools.call("describe", json!({"ids": [id]})).await.unwrap_or_else(|error| panic!("{id}: {error}")).text()
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_joins_are_shown_as_keys() {
    let (catalog, _folder) = energy().await;
    let engine = catalog.engine();
    let tools = DiscoveryTools::new(&catalog, Profile::Compact).with_engine(&engine);
    let instructions = Instructions { with_tools: "", without_terms: "", without_tools: "", form: "" };
    let prompt = PromptBuilder::new(&catalog, &tools, instructions).form(Some(PromptForm::FullWithTools));
    let prompt: String =
        prompt.build(&UNLISTED, "billed by region").system.into_iter().map(|block| block.text).collect();
    for key in ["bills.contract_no", "contracts.customer_no"] {
        let (table, column) = key.split_once('.').unwrap();
        let described = describe(&tools, &format!("energy.{table}")).await;
        for text in [&prompt, &described] {
            assert!(text.lines().any(|line| line.trim().starts_with(column) && line.contains(" -> ")), "{key}: {text}");
        }
    }
    let path = tools.call("describe", json!({"ids": ["energy.bills>energy.customers"]})).await.unwrap();
    let path = path.json().to_string();
    assert!(path.contains("contracts.customer_no") && !path.contains("no declared key"), "{path}");
    let found = tools.call("search", json!({"query": "amount of the bills of contracts"})).await.unwrap();
    let text = found.text();
    let join = "bills.contract_no = contracts.contract_no";
    assert!(text.contains(join) && !text.contains(&format!("{join} (")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_joins_lead_metrics_to_columns() {
    let (catalog, _folder) = energy().await;
    let engine = catalog.engine();
    let tools = DiscoveryTools::new(&catalog, Profile::Compact).with_engine(&engine);
    let asked = json!({"metrics": ["billed"], "dimensions": ["customer.region"], "order": ["customer.region"]});
    let computed = tools.call(DiscoveryTools::METRICS_TOOL, asked).await.unwrap();
    let text = computed.text();
    assert!(text.contains("Mitte") && text.contains("Nord"), "{text}");
    let described = describe(&tools, "billed").await;
    assert!(described.contains("any column of bill, contract, customer, as customer.customer_name"), "{described}");
    for (dimension, suggested) in [
        ("region", "did you mean customer.region, outage.region?"),
        ("customers.region", "did you mean customer.region?"),
        ("customer.regoin", "did you mean `region`"),
        ("chanel", "did you mean contract.channel"),
    ] {
        let asked = json!({"metrics": ["billed"], "dimensions": [dimension]});
        let error = tools.call(DiscoveryTools::METRICS_TOOL, asked).await.unwrap_err().to_string();
        assert!(error.contains(suggested), "{dimension}: {error}");
    }
}
