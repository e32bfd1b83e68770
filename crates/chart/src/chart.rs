//! Charts as plain data, the input of all renderers.

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChartKind {
    /// A bar per category or period.
    Bar,
    /// Bars next to each other.
    GroupedBar,
    /// Bars on top of each other: parts of a whole.
    StackedBar,
    /// One or several lines over time.
    Line,
    /// A point per row.
    Scatter,
    /// A single value and its change.
    Figure,
}

impl ChartKind {
    /// All kinds.
    pub const ALL: [ChartKind; 6] = [
        ChartKind::Bar,
        ChartKind::GroupedBar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Scatter,
        ChartKind::Figure,
    ];

    /// Returns the name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ChartKind::Bar => "bar",
            ChartKind::GroupedBar => "grouped_bar",
            ChartKind::StackedBar => "stacked_bar",
            ChartKind::Line => "line",
            ChartKind::Scatter => "scatter",
            ChartKind::Figure => "figure",
        }
    }

    /// Returns the kind with this name, as in [`ChartKind::as_str`], with any word separator; `grouped` and `stacked`
    /// denote bars.
    pub fn from_name(name: &str) -> Option<ChartKind> {
        let name = name.trim().to_lowercase().replace([' ', '-'], "_");
        let is_named = |kind: &ChartKind| kind.as_str() == name || kind.as_str() == format!("{name}_bar");
        ChartKind::ALL.into_iter().find(is_named)
    }
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The axis of categories, periods or horizontal values.
    pub across: Axis,
    /// The axis of bars, lines or vertical values.
    pub measure: Axis,
    /// The content.
    pub drawing: Drawing,
    /// Notes for the reader: omitted rows, an axis that does not start at zero.
    pub notes: Vec<String>,
    /// The sources of its rows.
    pub sources: Vec<String>,
}

impl Chart {
    /// Returns its kind.
    pub fn kind(&self) -> ChartKind {
        match &self.drawing {
            Drawing::Bars { layout: Layout::Single, .. } => ChartKind::Bar,
            Drawing::Bars { layout: Layout::Grouped, .. } => ChartKind::GroupedBar,
            Drawing::Bars { layout: Layout::Stacked, .. } => ChartKind::StackedBar,
            Drawing::Lines { .. } => ChartKind::Line,
            Drawing::Dots { .. } => ChartKind::Scatter,
            Drawing::Figure { .. } => ChartKind::Figure,
        }
    }

    /// Returns the footnote: notes and sources.
    pub fn footnote(&self) -> String {
        let mut parts = self.notes.clone();
        if !self.sources.is_empty() {
            parts.push(format!("Source: {}", self.sources.join(", ")));
        }
        parts.join(". ")
    }
}

/// The label of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// The title, without the unit.
    pub title: String,
    /// The unit, such as `EUR`, `%` or `ms`.
    pub unit: Option<String>,
}

impl Axis {
    /// Returns the title with its unit.
    pub fn label(&self) -> String {
        match &self.unit {
            Some(unit) if self.title.is_empty() => unit.clone(),
            Some(unit) => format!("{} ({unit})", self.title),
            None => self.title.clone(),
        }
    }
}

/// The arrangement of bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One per label.
    Single,
    /// Those of a label next to each other.
    Grouped,
    /// Those of a label on top of each other.
    Stacked,
}

/// The content of a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Bars, which start at zero.
    Bars {
        /// The labels, in order.
        labels: Vec<String>,
        /// The values of each series at these labels; one series for [`Layout::Single`].
        series: Vec<Series>,
        /// The arrangement.
        layout: Layout,
        /// Whether the labels have a natural order, such as months and sizes; otherwise the longest bar comes first.
        ordered: bool,
    },
    /// Lines over time.
    Lines {
        /// The periods from first to last, including those without values.
        periods: Vec<Period>,
        /// The values of each line at these periods.
        series: Vec<Series>,
        /// Whether the axis starts at zero.
        from_zero: bool,
    },
    /// Points.
    Dots {
        /// One per row.
        dots: Vec<Dot>,
    },
    /// A single value, and the previous one.
    Figure {
        /// The current value.
        now: Labelled,
        /// The previous value.
        before: Labelled,
    },
}

/// A named series of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name; empty if there is only one series.
    pub name: String,
    /// The value at each position, if any.
    pub values: Vec<Option<f64>>,
    /// Whether it combines several series that are not shown separately.
    pub is_rest: bool,
}

/// A period.
#[derive(Debug, Clone, PartialEq)]
pub struct Period {
    /// As displayed.
    pub label: String,
    /// Its start, in days since 1970.
    pub day: f64,
}

/// A point of a scatter plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Its name, if the rows contain one.
    pub label: Option<String>,
    /// The horizontal value.
    pub x: f64,
    /// The vertical value.
    pub y: f64,
}

/// A labelled value.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// The label, such as `2025-Q4`.
    pub label: String,
    /// The value.
    pub value: f64,
}
