//! The built-in planner over the sample catalog.

mod answers;
