//! Sessions that outlive the catalog that started them.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use crate::{
    Server,
    server::{Live, Origin},
    spec::Reach,
};

/// The sessions of the servers of a program, so that a catalog that is opened again continues them. Clones share the sessions.
///
/// A session is shared by the servers with the same name, folder and [`Reach`]. It ends with the last of them, and with
/// [`ServerSessions::end_others`].
///
/// ```
/// # use std::time::Duration;
/// # use prospector_mcp::{ServerSessions, spec::{Command, Reach}};
/// # let reach = Reach::Command(Command { program: "server".into(), args: Vec::new(), environment: Vec::new(), folder: ".".into() });
/// let (sessions, limit) = (ServerSessions::default(), Duration::from_secs(30));
/// let first = sessions.server("memory", reach.clone(), limit, "state/mcp");
/// // Its process, once started, serves the calls of both.
/// let second = sessions.server("memory", reach, limit, "state/mcp");
/// # assert_eq!(first.name(), second.name());
/// ```
#[derive(Debug, Clone, Default)]
pub struct ServerSessions(Arc<Mutex<Vec<Weak<Live>>>>);

impl ServerSessions {
    /// Creates a server without starting it, as [`Server::new`] does. If a server with the same name, folder and [`Reach`] exists, its
    /// session is shared.
    pub fn server(&self, name: impl Into<String>, reach: Reach, limit: Duration, folder: impl Into<PathBuf>) -> Server {
        let origin = Origin::new(name.into(), reach, folder.into());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|live| live.strong_count() > 0);
        let known = all.iter().filter_map(Weak::upgrade).find(|live| live.is_of(&origin));
        let live = known.unwrap_or_else(|| {
            let live = Arc::new(Live::new(origin));
            all.push(Arc::downgrade(&live));
            live
        });
        Server::over(live, limit)
    }

    /// Ends the sessions of all other servers with records in this folder: those that a reopened catalog no longer has. Running calls finish.
    pub fn end_others(&self, folder: &Path, kept: &[&Server]) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let others = all.iter().filter_map(Weak::upgrade).filter(|live| live.is_in(folder));
        for live in others.filter(|live| !kept.iter().any(|server| server.runs_in(live))) {
            // Its state is locked while it starts.
            tokio::spawn(async move { live.end().await });
        }
    }
}
