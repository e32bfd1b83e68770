//! Types in casts and literals. A type may be the name of a table, as its row type, or one of PostgreSQL's `reg*`, which look
//! up names, so only known types are rendered.

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryLength, CharacterLength, DataType, ObjectName, StructBracketKind, StructField,
};
use sqlparser::tokenizer::Span;

use super::{WriteResult, Writer, reject};
use crate::Dialect;
use crate::syntax::is_word;

/// Returns whether a custom type, in lower case, is on the allow-list.
fn is_known(dialect: Dialect, name: &str) -> bool {
    let known: &[&str] = match dialect {
        Dialect::Postgres => &[
            "bpchar",
            "box",
            "cidr",
            "circle",
            "citext",
            "date",
            "daterange",
            "datemultirange",
            "inet",
            "int4range",
            "int4multirange",
            "int8range",
            "int8multirange",
            "jsonpath",
            "line",
            "lseg",
            "macaddr",
            "macaddr8",
            "money",
            "nummultirange",
            "numrange",
            "path",
            "point",
            "polygon",
            "serial",
            "timestamptz",
            "timetz",
            "tsmultirange",
            "tsrange",
            "tstzmultirange",
            "tstzrange",
            "xml",
        ],
        Dialect::Mysql => &["inet4", "inet6", "nchar", "uuid", "year"],
        // SQLite accepts any word as a type, which only determines the affinity.
        Dialect::Sqlite => return true,
        Dialect::Bigquery => &["geography", "interval"],
        Dialect::Joined => &["timestamptz", "utf8"],
    };
    known.contains(&name)
}

/// Returns whether it is a numeric type, of any precision.
fn is_number(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Numeric(_)
            | T::Decimal(_)
            | T::DecimalUnsigned(_)
            | T::BigNumeric(_)
            | T::BigDecimal(_)
            | T::Dec(_)
            | T::DecUnsigned(_)
            | T::Float(_)
            | T::FloatUnsigned(_)
            | T::TinyInt(_)
            | T::TinyIntUnsigned(_)
            | T::UTinyInt
            | T::Int2(_)
            | T::Int2Unsigned(_)
            | T::SmallInt(_)
            | T::SmallIntUnsigned(_)
            | T::USmallInt
            | T::MediumInt(_)
            | T::MediumIntUnsigned(_)
            | T::Int(_)
            | T::Int4(_)
            | T::Int8(_)
            | T::Int16
            | T::Int32
            | T::Int64
            | T::Int128
            | T::Int256
            | T::Integer(_)
            | T::IntUnsigned(_)
            | T::Int4Unsigned(_)
            | T::IntegerUnsigned(_)
            | T::HugeInt
            | T::UHugeInt
            | T::UInt8
            | T::UInt16
            | T::UInt32
            | T::UInt64
            | T::UInt128
            | T::UInt256
            | T::BigInt(_)
            | T::BigIntUnsigned(_)
            | T::UBigInt
            | T::Int8Unsigned(_)
            | T::Signed
            | T::SignedInteger
            | T::Unsigned
            | T::UnsignedInteger
            | T::Float4
            | T::Float32
            | T::Float64
            | T::Real
            | T::RealUnsigned
            | T::Float8
            | T::Double(_)
            | T::DoubleUnsigned(_)
            | T::DoublePrecision
            | T::DoublePrecisionUnsigned
    )
}

/// Returns whether it is a boolean, text, binary, date or time type, or one for JSON, search or geometry. A type that is
/// neither here nor in [`is_number`] is rejected, including those that future versions of the parser add.
fn is_text_or_time(data_type: &DataType) -> bool {
    use DataType as T;
    matches!(
        data_type,
        T::Uuid
            | T::CharacterLargeObject(_)
            | T::CharLargeObject(_)
            | T::Clob(_)
            | T::Binary(_)
            | T::Blob(_)
            | T::TinyBlob
            | T::MediumBlob
            | T::LongBlob
            | T::Bytes(_)
            | T::Bool
            | T::Boolean
            | T::Date
            | T::Date32
            | T::Time(..)
            | T::Datetime(_)
            | T::Timestamp(..)
            | T::Interval { .. }
            | T::JSON
            | T::JSONB
            | T::Text
            | T::TinyText
            | T::MediumText
            | T::LongText
            | T::String(_)
            | T::Bytea
            | T::Bit(_)
            | T::BitVarying(_)
            | T::VarBit(_)
            | T::GeometricType(_)
            | T::TsVector
            | T::TsQuery
    )
}

impl Writer<'_> {
    pub(super) fn data_type(&mut self, data_type: &DataType) -> WriteResult {
        let name = data_type.to_string();
        if self.is_allowed(data_type) {
            return self.end(&name);
        }
        reject(
            format!("`{}` is not a supported type", name.escape_debug()),
            Span::empty(),
            "use a plain type of numbers, text, dates or JSON",
        )
    }

    /// Returns whether the type is built into the dialect and consists of words and numbers only.
    fn is_allowed(&self, data_type: &DataType) -> bool {
        use DataType as T;
        match data_type {
            T::Custom(name, modifiers) => self.is_custom_allowed(name, modifiers),
            T::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
                matches!(self.dialect, Dialect::Postgres | Dialect::Joined) && self.is_allowed(element)
            }
            T::Array(ArrayElemTypeDef::AngleBracket(element)) => {
                matches!(self.dialect, Dialect::Bigquery | Dialect::Joined) && self.is_allowed(element)
            }
            T::Struct(fields, StructBracketKind::AngleBrackets) => {
                self.dialect == Dialect::Bigquery && fields.iter().all(|field| self.is_field_allowed(field))
            }
            T::Character(length)
            | T::Char(length)
            | T::CharacterVarying(length)
            | T::CharVarying(length)
            | T::Varchar(length)
            | T::Nvarchar(length) => !matches!(length, Some(CharacterLength::Max)),
            T::Varbinary(length) => !matches!(length, Some(BinaryLength::Max)),
            other => is_number(other) || is_text_or_time(other),
        }
    }

    fn is_custom_allowed(&self, name: &ObjectName, modifiers: &[String]) -> bool {
        let is_number = |text: &String| !text.is_empty() && text.len() <= 6 && text.bytes().all(|b| b.is_ascii_digit());
        let [part] = name.0.as_slice() else { return false };
        let Some(word) = part.as_ident().filter(|word| word.quote_style.is_none()) else { return false };
        word.value.len() <= 40
            && is_word(&word.value)
            && modifiers.iter().all(is_number)
            && is_known(self.dialect, &word.value.to_ascii_lowercase())
    }

    fn is_field_allowed(&self, field: &StructField) -> bool {
        field.options.is_none()
            && field.field_name.as_ref().is_none_or(|name| name.quote_style.is_none() && is_word(&name.value))
            && self.is_allowed(&field.field_type)
    }
}
