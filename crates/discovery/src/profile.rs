//! The two tool profiles.

/// The set of tools for a model. Both have the same capabilities: see the routes of the compact profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Six tools that accept ids of any kind.
    Compact,
    /// A tool for each operation on each kind.
    Full,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 2] = [Profile::Compact, Profile::Full];

    /// The default profile. According to `planner bench` on the workloads in `benches/estates`, the compact profile produces equally good
    /// plans with fewer context tokens.
    pub const DEFAULT: Profile = Profile::Compact;

    /// Returns its name in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Compact => "compact",
            Profile::Full => "full",
        }
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile::DEFAULT
    }
}
