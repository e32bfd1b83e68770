//! A chart as plain data: what every way of drawing it begins with.

/// What a chart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChartKind {
    /// A bar for each category or period.
    Bar,
    /// Bars beside each other.
    GroupedBar,
    /// Bars on top of each other: parts of a whole.
    StackedBar,
    /// A line over time, or several.
    Line,
    /// A point for each row.
    Scatter,
    /// One figure, and how it changed.
    Figure,
}

impl ChartKind {
    /// Every kind.
    pub const ALL: [ChartKind; 6] = [
        ChartKind::Bar,
        ChartKind::GroupedBar,
        ChartKind::StackedBar,
        ChartKind::Line,
        ChartKind::Scatter,
        ChartKind::Figure,
    ];

    /// The word for it in JSON.
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

    /// The kind of that name, as [`ChartKind::as_str`] has it, however its words are joined; `grouped` and `stacked` are bars.
    pub fn from_name(name: &str) -> Option<ChartKind> {
        let name = name.trim().to_lowercase().replace([' ', '-'], "_");
        let is_named = |kind: &ChartKind| kind.as_str() == name || kind.as_str() == format!("{name}_bar");
        ChartKind::ALL.into_iter().find(is_named)
    }
}

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What its categories, periods or horizontal values are.
    pub across: Axis,
    /// What its bars, lines or vertical values are.
    pub measure: Axis,
    /// What is drawn.
    pub drawing: Drawing,
    /// What one has to know to read it rightly: rows that are left out, an axis that does not begin at zero.
    pub notes: Vec<String>,
    /// Where its rows come from.
    pub sources: Vec<String>,
}

impl Chart {
    /// What it is.
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

    /// What stands below it: notes and sources.
    pub fn footnote(&self) -> String {
        let mut parts = self.notes.clone();
        if !self.sources.is_empty() {
            parts.push(format!("Source: {}", self.sources.join(", ")));
        }
        parts.join(". ")
    }
}

/// What an axis counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Axis {
    /// In words, without the unit.
    pub title: String,
    /// As `EUR`, `%` or `ms`.
    pub unit: Option<String>,
}

impl Axis {
    /// With its unit.
    pub fn label(&self) -> String {
        match &self.unit {
            Some(unit) if self.title.is_empty() => unit.clone(),
            Some(unit) => format!("{} ({unit})", self.title),
            None => self.title.clone(),
        }
    }
}

/// How bars stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One for each label.
    Single,
    /// Those of a label beside each other.
    Grouped,
    /// Those of a label on top of each other.
    Stacked,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Bars, which begin at zero.
    Bars {
        /// One for each place, in their order.
        labels: Vec<String>,
        /// What each series has at these places; one series where they are [`Layout::Single`].
        series: Vec<Series>,
        /// How they stand.
        layout: Layout,
        /// Whether the labels have an order of their own, as months and sizes have; else the longest bar is first.
        ordered: bool,
    },
    /// Lines over time.
    Lines {
        /// The periods from the first to the last, with those of which nothing is known.
        periods: Vec<Period>,
        /// What each line has at these periods.
        series: Vec<Series>,
        /// Whether the axis begins at zero.
        from_zero: bool,
    },
    /// Points.
    Dots {
        /// Each row.
        dots: Vec<Dot>,
    },
    /// One figure, and the one before it.
    Figure {
        /// What it is now.
        now: Labelled,
        /// What it was.
        before: Labelled,
    },
}

/// Values of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name; empty where there is only one.
    pub name: String,
    /// A value for each place, where there is one.
    pub values: Vec<Option<f64>>,
    /// Whether it is the rest of several that are not shown by themselves.
    pub is_rest: bool,
}

/// A period.
#[derive(Debug, Clone, PartialEq)]
pub struct Period {
    /// As it is written.
    pub label: String,
    /// When it begins, in days since 1970.
    pub day: f64,
}

/// A point of a scatter plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// What it is, where the rows say it.
    pub label: Option<String>,
    /// From the left.
    pub x: f64,
    /// From below.
    pub y: f64,
}

/// A value with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// As `2025-Q4`.
    pub label: String,
    /// The value.
    pub value: f64,
}
