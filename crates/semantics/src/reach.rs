//! The dimensions that a metric can be grouped by, according to the declarations.

use std::collections::BTreeSet;

use prospector_engine::{Engine, FailureCode};

use crate::model::{Dimension, Metric};
use crate::{MetricQuery, SemanticModel};

/// The length of a declared join, and the distance between tables of one database, which keys of their schema may join.
const DECLARED: u32 = 1;
const SAME_DATABASE: u32 = 2;

impl SemanticModel {
    /// Returns the dimensions that a metric can be grouped by, the nearest first. Dimensions that neither a declared join nor a key of a
    /// schema can lead to are omitted.
    pub(crate) fn dimensions_of(&self, metric: &Metric) -> Vec<&Dimension> {
        let homes: BTreeSet<String> =
            self.measures(metric).into_iter().map(|measure| measure.entity.to_lowercase()).collect();
        let far: Vec<Vec<Option<u32>>> = homes.iter().map(|home| self.measure_ways(home)).collect();
        let way_to = |dimension: &Dimension, far: &[Option<u32>]| {
            let places = dimension.columns.iter().filter_map(|column| self.place(&column.entity));
            places.filter_map(|at| far[at]).min()
        };
        let farthest = |dimension: &Dimension| {
            let ways = far.iter().map(|far| way_to(dimension, far)).collect::<Option<Vec<u32>>>()?;
            ways.into_iter().max()
        };
        let mut reached: Vec<(u32, &Dimension)> =
            self.dimensions().iter().filter_map(|dimension| Some((farthest(dimension)?, dimension))).collect();
        reached.sort_by_key(|(far, _)| *far);
        reached.into_iter().map(|(_, dimension)| dimension).collect()
    }

    /// Returns whether the keys of the tables prevent grouping a metric by a dimension: its rows would be repeated, there is no join
    /// path, or several paths are equally short.
    pub(crate) fn is_refused(&self, engine: &Engine, metric: &Metric, dimension: &Dimension) -> bool {
        let query = MetricQuery {
            metrics: vec![metric.name.clone()],
            dimensions: vec![dimension.name.clone()],
            ..MetricQuery::default()
        };
        let code = self.compile(engine, &query).err().map(|failure| failure.code);
        matches!(code, Some(FailureCode::RepeatedRows | FailureCode::AmbiguousJoin | FailureCode::NoJoin))
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
