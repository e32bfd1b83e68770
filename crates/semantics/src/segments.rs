//! Segments: lookup, descriptions, and the queries that return the keys of their members.

use prospector_core::name::nearest;
use prospector_core::record::Record;
use prospector_core::{Kind, Problem};
use prospector_engine::options::{NamedQuery, NamedSchema};
use prospector_engine::query::aggregate::{Members, Segment as KeySet, SegmentQuery};
use prospector_engine::{Engine, Failure, FailureCode};

use crate::check::fold;
use crate::model::{Segment, SegmentMembers};
use crate::{MetricQuery, SemanticModel};

/// The name of the kind of segments where metrics are listed.
pub(crate) const SEGMENT: &str = "segment";

impl SemanticModel {
    /// Returns the segments, in the order of their declaration.
    pub fn segments(&self) -> &[Segment] {
        &self.declarations().segments
    }

    /// Returns the segment with that name or synonym; case is ignored.
    pub fn segment(&self, name: &str) -> Option<&Segment> {
        let wanted = fold(name);
        let called = |segment: &&Segment| segment.synonyms.iter().any(|synonym| fold(synonym) == wanted);
        let segments = self.segments();
        segments.iter().find(|segment| fold(&segment.name) == wanted).or_else(|| segments.iter().find(called))
    }

    /// Returns the segment with that name or synonym.
    ///
    /// # Errors
    /// If it does not exist, with the closest names.
    pub(crate) fn find_segment(&self, name: &str) -> Result<&Segment, Failure> {
        self.segment(name).ok_or_else(|| {
            let failure = Failure::new(FailureCode::UnknownColumn, format!("there is no segment `{name}`"));
            let known = self.segments().iter().map(|segment| segment.name.as_str());
            match nearest(name, known, 3).as_slice() {
                [] => failure.advise("look for one with search"),
                near => failure.advise(format!("did you mean {}?", near.join(", "))),
            }
        })
    }

    /// Returns the distinct segments that a query names.
    pub(crate) fn list_segments(&self, query: &MetricQuery) -> Vec<&Segment> {
        let filters = query.filters.iter().map(|filter| &filter.column);
        let mut found: Vec<&Segment> = Vec::new();
        for name in query.segments.iter().chain(&query.dimensions).chain(filters) {
            let segment = self.segment(name).filter(|_| self.dimension(name).is_none() && self.metric(name).is_none());
            found.extend(segment.filter(|segment| !found.iter().any(|known| known.name == segment.name)));
        }
        found
    }

    /// Returns the table with the keys of a segment's members: `segments.vip_customer`.
    pub fn table_of(&self, segment: &Segment) -> String {
        NamedSchema::Segments.write(&segment.name)
    }

    /// Describes the meaning and the members of a segment.
    pub fn define_segment(&self, segment: &Segment) -> String {
        let mut text = segment.description.trim().to_owned();
        if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        let sentence = self.describe_members(segment);
        if text.is_empty() { format!("{sentence}.") } else { format!("{text} {sentence}.") }
    }

    /// Describes the members of a segment.
    pub fn describe_members(&self, segment: &Segment) -> String {
        match &segment.members {
            SegmentMembers::Filter(conditions) => {
                format!("rows of {} where {}", segment.entity, conditions.join(" and "))
            }
            SegmentMembers::Query { name, columns } => {
                let queries = &self.declarations().queries;
                let parameters = queries.iter().find(|query| query.name == *name).map(|query| &query.parameters);
                let with = parameters.filter(|all| !all.is_empty()).map(|all| format!(" with {}", all.join(", ")));
                format!(
                    "rows of {} whose key is `{}` of the verified query `{name}`{}",
                    segment.entity,
                    columns.join("`, `"),
                    with.unwrap_or_default()
                )
            }
        }
    }

    /// Returns the table of the entity of a segment, as `database.table`.
    pub fn table_of_entity(&self, segment: &Segment) -> Option<String> {
        self.entity(&segment.entity).map(|entity| format!("{}.{}", entity.database, entity.table))
    }

    pub(crate) fn record_segment(&self, segment: &Segment) -> Record {
        let mut record = Record::new(Kind::Metric, &segment.name, &segment.name);
        record.aliases.clone_from(&segment.synonyms);
        record.description = match segment.description.is_empty() {
            true => self.describe_members(segment),
            false => segment.description.clone(),
        };
        record.members = segment.synonyms.join(", ");
        record.body = self.define_segment(segment);
        record.parent.clone_from(&segment.entity);
        record
    }

    /// Returns the segment as a key set for an engine.
    pub(crate) fn key_set(&self, segment: &Segment) -> KeySet {
        KeySet { name: segment.name.clone(), table: segment.entity.clone(), key: segment.key.clone() }
    }

    /// Returns the queries with the keys of the members of each segment, which an engine reads as `segments.NAME`, and the problems of
    /// those that cannot be generated.
    pub fn name_queries(&self, engine: &Engine) -> (Vec<NamedQuery>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut named = Vec::new();
        for segment in self.segments() {
            let query = SegmentQuery {
                tables: self.named_tables(),
                joins: self.named_joins(),
                segment: self.key_set(segment),
                members: self.list_members(segment),
            };
            let mut own = NamedQuery {
                schema: NamedSchema::Segments,
                name: segment.name.clone(),
                database: None,
                sql: String::new(),
                parameters: Vec::new(),
                columns: segment.key.clone(),
                refusal: None,
            };
            match engine.compile_segment(&query) {
                Ok(compiled) => (own.sql, own.database) = (compiled.sql, compiled.database),
                Err(failure) => {
                    // A table that is currently unavailable can still be used in plans.
                    let is_absent = matches!(failure.code, FailureCode::Unavailable | FailureCode::UnknownDatabase);
                    if !is_absent {
                        let reason = format!("{}, in segment `{}`", failure.message, segment.name);
                        let advice = failure.suggestion.clone().unwrap_or_else(|| "correct its `filter`".to_owned());
                        problems.push(Problem::error(&segment.place, reason).advise(advice));
                    }
                    own.refusal = Some(failure.message);
                }
            }
            named.push(own);
        }
        (named, problems)
    }

    fn list_members(&self, segment: &Segment) -> Members {
        match &segment.members {
            SegmentMembers::Filter(conditions) => Members::Conditions(conditions.clone()),
            SegmentMembers::Query { name, columns } => {
                let query = self.declarations().queries.iter().find(|query| query.name == *name);
                let database = query.and_then(|query| query.database.clone());
                Members::Query { name: name.clone(), database, columns: columns.clone() }
            }
        }
    }
}
