//! Conversion of BSON values for display. Types are named as in `$type`.

use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Bson, Document};
use serde_json::Value;

use crate::display;
use crate::document::Node;
use crate::filter::decimal;

/// Converts a BSON value.
pub(super) fn node(value: Bson) -> Node {
    let scalar = |word, value: Value| Node::Scalar(word, value);
    match value {
        Bson::Null | Bson::Undefined => Node::Null,
        Bson::Double(number) => scalar("double", display::float(number)),
        Bson::String(text) => scalar("string", text.into()),
        Bson::Boolean(yes) => scalar("bool", yes.into()),
        Bson::Int32(number) => scalar("int", number.into()),
        Bson::Int64(number) => scalar("long", number.into()),
        Bson::Decimal128(number) => scalar("decimal", decimal(&number.to_string())),
        Bson::ObjectId(id) => scalar("objectId", id.to_hex().into()),
        Bson::DateTime(date) => {
            let text = date.try_to_rfc3339_string().unwrap_or_else(|_| date.timestamp_millis().to_string());
            scalar("date", text.into())
        }
        Bson::Binary(binary) => match (binary.subtype, binary.to_uuid()) {
            (BinarySubtype::Uuid, Ok(uuid)) => scalar("uuid", uuid.to_string().into()),
            _ => scalar("binData", display::hexadecimal(&binary.bytes).into()),
        },
        Bson::Timestamp(time) => scalar("timestamp", format!("{}.{}", time.time, time.increment).into()),
        Bson::RegularExpression(regex) => scalar("regex", format!("/{}/{}", regex.pattern, regex.options).into()),
        Bson::JavaScriptCode(code) => scalar("javascript", code.into()),
        Bson::JavaScriptCodeWithScope(code) => scalar("javascript", code.code.into()),
        Bson::Symbol(text) => scalar("symbol", text.into()),
        Bson::MaxKey => scalar("maxKey", "maxKey".into()),
        Bson::MinKey => scalar("minKey", "minKey".into()),
        Bson::DbPointer(_) => scalar("dbPointer", "dbPointer".into()),
        Bson::Array(items) => Node::List(items.into_iter().map(node).collect()),
        Bson::Document(fields) => Node::Object(fields.into_iter().map(|(name, value)| (name, node(value))).collect()),
    }
}

/// Returns a count of a server response.
pub(super) fn count(answer: &Document, name: &str) -> u64 {
    match answer.get(name) {
        Some(Bson::Int32(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Int64(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Double(number)) => *number as u64,
        _ => 0,
    }
}
