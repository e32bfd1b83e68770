//! Query arguments of other tools: a built query under `query`, or in place of SQL.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::request::QueryRequest;

/// A request, or the output of `build_query`, whose `query` is a request.
#[derive(JsonSchema)]
pub(crate) struct AskedQuery(pub(crate) QueryRequest);

impl<'de> Deserialize<'de> for AskedQuery {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        AskedQuery::read(Value::deserialize(from)?).map_err(Error::custom)
    }
}

impl AskedQuery {
    pub(super) fn read(mut value: Value) -> serde_json::Result<Self> {
        // The whole output may be nested under `query` too.
        for _ in 0..2 {
            if let Some(inner) = value.get_mut("query").filter(|inner| inner.is_object()) {
                value = inner.take();
            }
        }
        QueryRequest::deserialize(value).map(AskedQuery)
    }
}

/// A query to check: its SQL, or a request.
pub(crate) enum AskedStatement {
    Sql(String),
    Request(Box<QueryRequest>),
}

impl<'de> Deserialize<'de> for AskedStatement {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(sql) => Ok(AskedStatement::Sql(sql)),
            value => {
                AskedQuery::read(value).map(|asked| AskedStatement::Request(Box::new(asked.0))).map_err(Error::custom)
            }
        }
    }
}
