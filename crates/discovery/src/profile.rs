//! The two sets of tools over the same code.

/// Which tools a model is given. Both reach the same: see the routes of the compact profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Six tools that take ids of any kind.
    Compact,
    /// A tool for each thing to do with each kind.
    Full,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 2] = [Profile::Compact, Profile::Full];

    /// The profile that is used where none is chosen.
    /// The bench over the estates of `benches/estates` says which is better: with as good plans, the compact one takes
    /// fewer tokens of context.
    pub const DEFAULT: Profile = Profile::Compact;

    /// The word for it in JSON and on the command line.
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
