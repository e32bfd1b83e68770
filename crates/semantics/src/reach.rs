//! The dimensions that a metric can be grouped by, according to the declarations.

use std::collections::BTreeSet;

use prospector_engine::{Engine, FailureCode};

use crate::model::{Dimension, Entity, Metric};
use crate::{MetricQuery, SemanticModel};

/// The length of a declared join, and the distance between tables of one database, which keys of their schema may join.
const DECLARED: u32 = 1;
const SAME_DATABASE: u32 = 2;

impl SemanticModel {
    /// Returns the dimensions that a metric can be grouped by, the nearest first. Dimensions that neither a declared join nor a key of a
    /// schema can lead to are omitted.
    pub(crate) fn dimensions_of(&self, metric: &Metric) -> Vec<&Dimension> {
        let homes = self.measure_homes(metric);
        let places = |dimension: &Dimension| {
            dimension.columns.iter().filter_map(|column| self.place(&column.entity)).collect::<Vec<usize>>()
        };
        let mut reached: Vec<(u32, &Dimension)> = (self.dimensions().iter())
            .filter_map(|dimension| Some((farthest(&homes, &places(dimension))?, dimension)))
            .collect();
        reached.sort_by_key(|(far, _)| *far);
        reached.into_iter().map(|(_, dimension)| dimension).collect()
    }

    /// Returns the entities by whose columns a metric can be grouped, the nearest first; those that nothing can lead to are omitted.
    pub(crate) fn entities_of(&self, metric: &Metric) -> Vec<&Entity> {
        let homes = self.measure_homes(metric);
        let entities = self.entities().iter().enumerate();
        let mut reached: Vec<(u32, &Entity)> =
            entities.filter_map(|(at, entity)| Some((farthest(&homes, &[at])?, entity))).collect();
        reached.sort_by_key(|(far, _)| *far);
        reached.into_iter().map(|(_, entity)| entity).collect()
    }

    /// Returns the column that shows how the columns of an entity are written: one that is no key, if possible.
    pub(crate) fn example_column(&self, entity: &Entity) -> Option<String> {
        let is_name = |column: &&String| column.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_key = |column: &str| {
            let is_end = |name: &str, columns: &[String]| {
                name.eq_ignore_ascii_case(&entity.name) && columns.iter().any(|own| own.eq_ignore_ascii_case(column))
            };
            let mut joins = self.joins().iter();
            entity.key.iter().any(|key| key.eq_ignore_ascii_case(column))
                || joins.any(|join| is_end(&join.from, &join.columns) || is_end(&join.to, &join.references))
        };
        let mut columns = self.columns_of(entity).iter().filter(is_name);
        let first = columns.clone().next();
        columns.find(|column| !is_key(column)).or(first).map(|column| format!("{}.{column}", entity.name))
    }

    /// Returns whether the keys of the tables prevent grouping a metric by a dimension or an `entity.column`: its rows would be repeated,
    /// there is no join path, or several paths are equally short.
    pub(crate) fn is_refused(&self, engine: &Engine, metric: &Metric, dimension: &str) -> bool {
        let query = MetricQuery {
            metrics: vec![metric.name.clone()],
            dimensions: vec![dimension.to_owned()],
            ..MetricQuery::default()
        };
        let code = self.compile(engine, &query).err().map(|failure| failure.code);
        matches!(code, Some(FailureCode::RepeatedRows | FailureCode::AmbiguousJoin | FailureCode::NoJoin))
    }

    /// Returns the distance of each entity from each one that a metric aggregates.
    fn measure_homes(&self, metric: &Metric) -> Vec<Vec<Option<u32>>> {
        let homes: BTreeSet<String> =
            self.measures(metric).into_iter().map(|measure| measure.entity.to_lowercase()).collect();
        homes.iter().map(|home| self.measure_ways(home)).collect()
    }

    fn place(&self, entity: &str) -> Option<usize> {
        self.entities().iter().position(|known| known.name.eq_ignore_ascii_case(entity))
    }

    /// Returns the distance of each entity from one; `None` if there is no path.
    fn measure_ways(&self, home: &str) -> Vec<Option<u32>> {
        let entities = self.entities();
        let mut far: Vec<Option<u32>> =
            entities.iter().map(|entity| entity.name.eq_ignore_ascii_case(home).then_some(0)).collect();
        let mut ways: Vec<(usize, usize, u32)> = Vec::new();
        for join in self.joins() {
            ways.extend(self.place(&join.from).zip(self.place(&join.to)).map(|(from, to)| (from, to, DECLARED)));
        }
        for (from, entity) in entities.iter().enumerate() {
            let others = entities.iter().enumerate().filter(|(_, other)| other.database == entity.database);
            ways.extend(others.map(|(to, _)| (from, to, SAME_DATABASE)));
        }
        // A path has at most as many joins as there are entities.
        for _ in entities {
            for (from, to, length) in &ways {
                let new = far[*from].map(|known| known + length);
                if new.is_some_and(|new| far[*to].is_none_or(|known| known > new)) {
                    far[*to] = new;
                }
            }
        }
        far
    }
}

/// Returns the distance of the farthest home from the nearest of some entities; `None` if a home has no path to any of them.
fn farthest(homes: &[Vec<Option<u32>>], places: &[usize]) -> Option<u32> {
    let ways = homes.iter().map(|far| places.iter().filter_map(|at| far[*at]).min());
    ways.collect::<Option<Vec<u32>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use prospector_connect::query::Aggregation;

    use super::*;
    use crate::model::{Declarations, DimensionColumn, Entity, Join, Measure, MetricKind};

    #[test]
    fn lists_near_dimensions_first_and_omits_unreachable_ones() {
        let entity = |name: &str, database: &str| Entity {
            name: name.into(),
            database: database.into(),
            table: name.into(),
            ..Entity::default()
        };
        let dimension = |name: &str, entity: &str| Dimension {
            name: name.into(),
            columns: vec![DimensionColumn { entity: entity.into(), expression: name.into() }],
            ..Dimension::default()
        };
        let join = Join { from: "ad".into(), to: "country".into(), ..Join::default() };
        let text = String::new;
        let measure = Measure {
            entity: "ad".into(),
            aggregation: Aggregation::Count,
            expression: None,
            filters: Vec::new(),
            time: None,
            grain: None,
            semi_additive: None,
        };
        let clicks = Metric {
            name: "clicks".into(),
            kind: MetricKind::Simple(measure),
            unit: text(),
            format: text(),
            owner: text(),
            description: text(),
            synonyms: Vec::new(),
            source: text(),
            place: text(),
        };
        let model = SemanticModel::of(Declarations {
            entities: vec![entity("ad", "ads"), entity("country", "world"), entity("album", "store")],
            joins: vec![join],
            dimensions: vec![dimension("artist", "album"), dimension("name", "country"), dimension("channel", "ad")],
            metrics: vec![clicks.clone()],
            ..Declarations::default()
        });
        let names: Vec<&str> = model.dimensions_of(&clicks).iter().map(|dimension| dimension.name.as_str()).collect();
        assert_eq!(names, ["channel", "name"]);
    }
}
