//! Links to conversations, if the operator allows them. A link shows a snapshot of the questions and answers to every authorized client
//! that has it, until its owner removes it.

use std::path::PathBuf;

use prospector_core::{Owner, tool::ToolErrorCode, work::compute};
use prospector_state::{
    checksum::{read_json, write_json},
    create_folder,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    error::{Refusal, RefusalCode},
    handles::{is_handle, new_handle},
    server::Server,
};

const PREFIX: &str = "link";
/// Subfolder of the state folder.
const FOLDER: &str = "links";
/// Limit per owner.
const MAX_LINKS: usize = 200;

/// The content of a link.
#[derive(Debug, Serialize, Deserialize)]
struct SharedTurns {
    /// The id of the owner.
    owner: String,
    session: String,
    /// The questions and answers, as the conversation shows them.
    turns: Value,
}

impl Server {
    /// Creates a link to the current state of a conversation.
    pub(crate) async fn make_link(&self, owner: &Owner, session: &str) -> Result<String, Refusal> {
        let folder = self.links()?;
        let mut conversation = self.turns(owner, session).await?;
        let kept =
            SharedTurns { owner: owner.id().into(), session: session.into(), turns: conversation["turns"].take() };
        let handle = new_handle(PREFIX);
        let named = handle.clone();
        compute(move || {
            let others = list(&folder).filter(|path| read(path).is_some_and(|other| other.owner == kept.owner));
            if others.count() >= MAX_LINKS {
                let message = format!("the limit of {MAX_LINKS} links is reached");
                return Err(Refusal::new(RefusalCode::TooManyRequests, message).advise("remove one of them"));
            }
            let path = folder.join(format!("{handle}.json"));
            let written = create_folder(&folder).and_then(|()| write_json(&path, &kept));
            written.map_err(|error| {
                tracing::error!(%error, "a link cannot be stored");
                Refusal::unavailable("the link cannot be stored").advise("see the server log")
            })
        })
        .await?;
        Ok(named)
    }

    /// Returns the content of a link, and whether it belongs to this owner.
    pub(crate) async fn follow_link(&self, owner: &Owner, handle: &str) -> Result<Value, Refusal> {
        let path = self.link(handle)?;
        let kept = compute(move || read(&path)).await.ok_or_else(|| unknown(handle))?;
        Ok(json!({"session": kept.session, "turns": kept.turns, "is_mine": kept.owner == owner.id()}))
    }

    pub(crate) async fn remove_link(&self, owner: &Owner, handle: &str) -> Result<(), Refusal> {
        let path = self.link(handle)?;
        let owner = owner.id().to_owned();
        let removed =
            compute(move || read(&path).is_some_and(|kept| kept.owner == owner) && std::fs::remove_file(&path).is_ok());
        if removed.await { Ok(()) } else { Err(unknown(handle)) }
    }

    fn links(&self) -> Result<PathBuf, Refusal> {
        let missing = || {
            Refusal::new(ToolErrorCode::Refused, "this server does not share conversations")
                .advise("start the server with --share-links")
        };
        let state = self.options.state.as_deref().filter(|_| self.options.shares_links);
        Ok(state.ok_or_else(missing)?.join(FOLDER))
    }

    /// Returns the file of a link, if its name is well-formed.
    fn link(&self, handle: &str) -> Result<PathBuf, Refusal> {
        let folder = self.links()?;
        if is_handle(PREFIX, handle) { Ok(folder.join(format!("{handle}.json"))) } else { Err(unknown(handle)) }
    }
}

fn list(folder: &std::path::Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Reads the file of a link; `None` if it is missing or damaged.
fn read(path: &std::path::Path) -> Option<SharedTurns> {
    read_json(path).ok()?
}

fn unknown(handle: &str) -> Refusal {
    Refusal::not_found(format!("there is no link `{handle}`")).advise("it was removed, or belongs to another server")
}
