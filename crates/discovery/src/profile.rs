//! The two tool profiles.

use prospector_core::named_enum;

named_enum! {
    /// The set of tools for a model. Both have the same capabilities: see the routes of the compact profile.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Profile {
        /// Six tools that accept ids of any kind. According to `planner bench` on the workloads in `benches/estates`, it produces equally
        /// good plans with fewer context tokens.
        #[default]
        Compact = "compact",
        /// A tool for each operation on each kind.
        Full = "full",
    }
}

impl Profile {
    /// The default profile.
    pub const DEFAULT: Profile = Profile::Compact;
}
