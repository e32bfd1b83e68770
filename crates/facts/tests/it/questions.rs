//! Questions on a handbook: resolution of their terms, and terms without a definition.

use async_trait::async_trait;
use prospector_facts::{
    Fact, FactDiscovery, Resolution,
    evidence::{Evidence, Passage},
    model::Origin,
};

const HANDBOOK: &str = r#"# Trading handbook

This handbook describes how we count. VIP customers are a priority for the support team, and net revenue is watched
every week.

## VIP customers

VIP customers receive free shipping on every order. A **VIP customer** is a customer whose lifetime spending is at least
45.00. The status is reviewed each January, e.g. on the first Monday. Until 2022 a VIP customer was a customer with ten
orders.

## Churn and activity

A customer is considered churned when there has been no purchase for 180 days. By reactivation we mean the first order of
a churned customer. We call a customer dormant if the last visit is more than 60 days ago.

An **active customer** has placed at least one order:

- in the last 90 days, or
- in the same quarter of the year before.

An account counts as a **key account** once:

- its contract is worth 10,000 EUR or more a year, and
- it has a named owner.

## Net revenue

Gross revenue minus refunds and discounts. Shipping is not part of it. Net revenue is shown on every dashboard.

## Rates

**Bounce rate** - the share of visits that end after one page.
**Conversion rate**: orders divided by visits, in percent.

The average order value (AOV) is calculated as net revenue divided by the number of orders.

```
gross_margin = (net_revenue - cost_of_goods) / net_revenue
```

## Payment

An invoice is overdue once it has been unpaid for more than 30 days. The dunning fee is 7.50. Discounts may not exceed
25 % of the list price. Refunds above 500.00 must be approved by the finance lead. All totals are in USD.

### What is a chargeback?

The bank takes a payment back after the card holder has complained. It costs us 15.00 each time.

## Calendar

The fiscal year starts on 1 February. A quarter means three months of the fiscal year, not of the calendar.

## Tiers

| Tier   | Minimum spend | Discount |
|--------|---------------|----------|
| Bronze | 10.00         | 2 %      |
| Silver | 25.00         | 4 %      |

## Glossary

| Term         | Meaning                                       |
|--------------|-----------------------------------------------|
| Cohort       | all customers whose first order is in a month |
| Landing page | the first page of a visit                     |

Basket
: everything that is paid for in one go
"#;

/// The handbook, one passage per section.
struct Handbook(Vec<(&'static str, String)>);

#[async_trait]
impl Evidence for Handbook {
    fn passages(&self) -> Vec<Passage> {
        let sections = self.0.iter().flat_map(|(name, text)| {
            text.split("\n## ").map(move |section| {
                let (title, body) = section.split_once('\n').unwrap_or_default();
                let is_title = title.starts_with('#');
                Passage {
                    source_type: "document".into(),
                    name: format!("{name}#{}", title.trim_start_matches("# ")),
                    heading: if is_title { String::new() } else { title.to_owned() },
                    text: body.to_owned(),
                }
            })
        });
        sections.collect()
    }

    fn is_of_schema(&self, term: &str) -> bool {
        matches!(term, "customer" | "customers" | "invoice" | "invoices")
    }
}

async fn resolve(more: Vec<(&'static str, String)>, facts: Vec<Fact>, question: &str) -> Resolution {
    let mut documents = vec![("handbook", HANDBOOK.to_owned())];
    documents.extend(more);
    let (discovery, problems) = FactDiscovery::open(None, facts, Some(std::sync::Arc::new(Handbook(documents)))).await;
    assert!(problems.is_empty());
    discovery.resolve(question).await
}

/// Counts the questions whose definitions include all of a text, and fails below a share of nine in ten.
async fn check_rate(questions: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (question, part) in questions {
        let got = resolve(vec![], vec![], question).await;
        let found: Vec<&String> =
            got.definition.iter().chain(&got.answer).chain(got.related.iter().map(|one| &one.definition)).collect();
        if got.needs_clarification || !found.iter().any(|text| text.contains(part)) {
            wrong.push(format!("{question}: {got:#?}"));
        }
    }
    println!("{} of {} right", questions.len() - wrong.len(), questions.len());
    assert!(wrong.len() * 10 <= questions.len(), "{} wrong: {}", wrong.len(), wrong.join("\n"));
}

const VIP: &str = "The status is reviewed each January, e.g. on the first Monday.";
const CHURNED: &str = "A customer is considered churned when there has been no purchase for 180 days.";
const AOV: &str = "The average order value (AOV) is calculated as net revenue divided by the number of orders.";

#[tokio::test]
async fn finds_terms_in_various_wordings() {
    check_rate(&[
        ("what is a VIP customer", VIP),
        ("VIP customers", VIP),
        ("vip-customer", VIP),
        ("Who counts as a VIP?", VIP),
        ("Which customers are VIP customers?", VIP),
        ("Show me VIP customer spending trends by quarter", VIP),
        ("How many VIP customers live in Germany?", VIP),
        ("When is a customer churned?", CHURNED),
        ("define churned customer", CHURNED),
        ("How many churned customers are there?", CHURNED),
        ("What is an active customer?", "in the same quarter of the year before"),
        ("active customers by country", "in the same quarter of the year before"),
        ("What makes a key account?", "it has a named owner"),
        ("definition of net revenue", "Shipping is not part of it."),
        ("How is net revenue calculated?", "Shipping is not part of it."),
        ("net revenue by month", "Shipping is not part of it."),
        ("how is bounce rate calculated", "the share of visits that end after one page"),
        ("What is the conversion rate?", "orders divided by visits, in percent"),
        ("What does AOV stand for?", AOV),
        ("Explain the average order value", AOV),
        ("AOV", AOV),
        ("formula for gross margin", "gross_margin = (net_revenue - cost_of_goods) / net_revenue"),
        ("When is an invoice overdue?", "unpaid for more than 30 days"),
        ("overdue invoices by customer", "unpaid for more than 30 days"),
        ("What is the dunning fee?", "The dunning fee is 7.50."),
        ("What is a chargeback?", "It costs us 15.00 each time."),
        ("what is a quarter", "three months of the fiscal year"),
        ("What is the silver tier?", "Minimum spend: 25.00; Discount: 4 %"),
        ("cohort", "all customers whose first order is in a month"),
        ("meaning of landing page", "the first page of a visit"),
        ("What is in a basket?", "everything that is paid for in one go"),
        ("How many baskets were there in May?", "everything that is paid for in one go"),
    ])
    .await;
}

#[tokio::test]
async fn undefined_terms_need_clarification() {
    for question in [
        "What is free shipping?",
        "What is a dashboard?",
        "define gross revenue",
        "What is a gold card?",
        "support team",
    ] {
        let got = resolve(vec![], vec![], question).await;
        let is_open = got.needs_clarification && got.answer.is_none() && got.sources.is_empty();
        assert!(is_open && got.confidence < 0.5, "{got:#?}");
        let asked = got.clarification.unwrap();
        assert!(asked.starts_with("No definition of") && !asked.contains("add_fact"), "{asked}");
    }
}

#[tokio::test]
async fn questions_without_a_term_need_no_definition() {
    for question in [
        "Who invented the telephone?",
        "What is the refund period for wholesale partners?",
        "customer spend on horror movies",
        "Show me total sales by country",
        "How many customers live in Germany?",
        "What is the average age of singers?",
        "What are the names of singers in France?",
        "Who is the oldest employee?",
        "customer",
    ] {
        let got = resolve(vec![], vec![], question).await;
        assert!(!got.needs_clarification && got.answer.is_none() && got.clarification.is_none(), "{got:#?}");
        assert_eq!(
            got.note.as_deref(),
            Some("no defined term in this text; search documents for related wording, in the language of the catalog"),
            "{question}"
        );
    }
}

#[tokio::test]
async fn shows_contradicting_sources() {
    let policy = "# Policy\n\n## Customers\n\nA VIP customer is a customer who spent 100.00 or more.\n".to_owned();
    let got = resolve(vec![("policy", policy)], vec![], "What is a VIP customer?").await;
    assert!(got.needs_clarification && got.confidence < 0.5, "{got:#?}");
    let answer = got.answer.unwrap();
    assert!(answer.contains("at least 45.00") && answer.contains("100.00 or more"), "{answer}");
    let names: Vec<&str> = got.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["handbook#VIP customers", "policy#Customers"]);
}

#[tokio::test]
async fn different_numbers_are_a_conflict() {
    async fn check(rule: &str, is_conflict: bool) {
        let policy = format!("# Policy\n\n## Money\n\n{rule}\n");
        let got = resolve(vec![("policy", policy)], vec![], "When is an invoice overdue?").await;
        assert_eq!(got.needs_clarification, is_conflict, "{rule}: {got:#?}");
        let names: Vec<&str> = got.sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["handbook#Payment", "policy#Money"]);
        if is_conflict {
            let answer = got.answer.unwrap();
            assert!(answer.contains("30 days") && answer.contains("14 days"), "{answer}");
            assert!(got.clarification.unwrap().contains("disagree"));
        }
    }
    check("An invoice is overdue once it has been unpaid for more than 14 days.", true).await;
    check("An invoice is overdue once it has been unpaid for thirty days.", false).await;
}

#[tokio::test]
async fn ignores_terms_of_other_databases() {
    struct Two;
    #[async_trait]
    impl Evidence for Two {
        fn passages(&self) -> Vec<Passage> {
            let passage = |name: &str, text: &str| Passage {
                source_type: "document".into(),
                name: format!("{name}#Customers"),
                heading: String::new(),
                text: text.into(),
            };
            vec![
                passage("model_cars_handbook", "An **active customer** bought within 180 days."),
                passage("general_words", "A **repeat customer** bought twice."),
            ]
        }

        fn databases(&self) -> Vec<String> {
            vec!["model_cars".into(), "clothing_shop".into()]
        }
    }
    let (facts, _) = FactDiscovery::open(None, vec![], Some(std::sync::Arc::new(Two))).await;
    for (question, found) in [
        ("How many active customers does the clothing shop have?", false),
        ("How many active customers do the model cars have?", true),
        ("How many active customers are there?", true),
        ("How many repeat customers does the clothing shop have?", true),
    ] {
        let got = facts.resolve(question).await;
        assert_eq!(got.answer.is_some(), found, "{got:#?}");
    }
}

#[tokio::test]
async fn agreeing_sources_increase_confidence() {
    let alone = resolve(vec![], vec![], "What is a VIP customer?").await;
    let policy = "# Policy\n\n## Customers\n\nA VIP customer is a customer who spent 45 or more.\n".to_owned();
    let both = resolve(vec![("policy", policy)], vec![], "What is a VIP customer?").await;
    assert!(both.confidence > alone.confidence);
    assert_eq!((alone.sources.len(), both.sources.len()), (1, 2));
}

#[tokio::test]
async fn user_facts_override_documents() {
    let fact = |origin| vec![Fact { confidence: 0.9, ..Fact::new("VIP customers", "Spent at least 80.00.", origin) }];
    let user = resolve(vec![], fact(Origin::User), "Show me VIP customer spending by quarter").await;
    assert_eq!(user.answer.as_deref(), Some("Spent at least 80.00."));
    assert_eq!(user.sources[0].source_type, "user");
    let asked = resolve(vec![], fact(Origin::User), "what is a VIP customer").await;
    assert!(!asked.needs_clarification && asked.answer.as_deref() == Some("Spent at least 80.00."), "{asked:#?}");
    assert_eq!(asked.otherwise[0].name, "handbook#VIP customers");
    let catalog = resolve(vec![], fact(Origin::Catalog), "what is a VIP customer").await;
    assert!(catalog.needs_clarification && catalog.sources.len() == 2, "{catalog:#?}");
}

#[tokio::test]
async fn scoped_facts_apply_in_their_scope() {
    let scoped =
        |scope: &str, text: &str| Fact { scope: scope.into(), ..Fact::new("big order", text, Origin::Catalog) };
    let facts = vec![scoped("", "Over 100."), scoped("wholesale", "Over 900.")];
    let everywhere = resolve(vec![], facts.clone(), "what is a big order").await;
    assert_eq!(everywhere.answer.as_deref(), Some("Over 100."));
    let wholesale = resolve(vec![], facts, "Show me each big order in wholesale").await;
    assert_eq!(wholesale.answer.as_deref(), Some("Over 900."));
    let either = vec![scoped("retail", "Over 50."), scoped("wholesale", "Over 900.")];
    let unclear = resolve(vec![], either, "what is a big order").await;
    assert!(unclear.needs_clarification && unclear.answer.unwrap().contains("(for retail)"));
}

#[tokio::test]
async fn returns_related_terms() {
    let got = resolve(vec![], vec![], "Compare net revenue of VIP customers by quarter").await;
    let mut terms: Vec<&str> = got.related.iter().map(|r| r.term.as_str()).chain(got.term.as_deref()).collect();
    terms.sort_unstable();
    assert_eq!(terms, ["Net revenue", "VIP customers", "quarter"], "{got:#?}");
}

#[tokio::test]
async fn suggests_similar_terms() {
    let got = resolve(vec![], vec![], "What is a cohrot?").await;
    assert!(got.clarification.unwrap().contains("`Cohort`"));
}
