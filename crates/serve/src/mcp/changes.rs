//! Tells clients that a list has changed.
//!
//! Clients of 2026-07-28 ask for it with `subscriptions/listen`, and are told on the stream of that request alone. Older
//! ones are told in their session: over HTTP on the stream that they open with GET, and what they missed before that is
//! told when they open it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use prospector_core::Owner;
use rmcp::{Peer, RoleServer, model::ProtocolVersion, service::SubscriptionContext};
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// What is known of one client, as long as the SDK serves it.
#[derive(Default)]
pub(super) struct Session {
    /// Whether it is told already.
    told: AtomicBool,
    over: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// Tells an older client of changes, from now until its session is over.
pub(super) fn tell(server: &Arc<Server>, owner: &Owner, session: &Session, peer: Peer<RoleServer>) {
    let is_older = peer.peer_info().is_some_and(|client| client.protocol_version < ProtocolVersion::V_2026_07_28);
    if !is_older || session.told.swap(true, Ordering::Relaxed) {
        return;
    }
    let (over, closing) = (session.over.clone(), server.closing.clone());
    let mut changes = server.catalog.follow_changes(owner);
    let telling = async move {
        while let Some(changed) = changes.next().await {
            if changed.tools && peer.notify_tool_list_changed().await.is_err() {
                return;
            }
            if changed.resources && peer.notify_resource_list_changed().await.is_err() {
                return;
            }
        }
    };
    tokio::spawn(async move {
        tokio::select! {
            () = over.cancelled() => {}
            () = closing.cancelled() => {}
            () = telling => {}
        }
    });
}

/// Tells a client of what it asked for, until it cancels that or the server closes.
pub(super) async fn listen(server: &Server, owner: &Owner, context: &SubscriptionContext) {
    let mut changes = server.catalog.follow_changes(owner);
    let (wanted, sink) = (context.accepted(), context.sink());
    loop {
        let changed = tokio::select! {
            () = context.cancelled() => return,
            () = server.closing.cancelled() => return,
            changed = changes.next() => changed,
        };
        let Some(changed) = changed else { return };
        let tools = changed.tools && wanted.tools_list_changed == Some(true);
        let resources = changed.resources && wanted.resources_list_changed == Some(true);
        if tools && sink.notify_tool_list_changed().await.is_err() {
            return;
        }
        if resources && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
    }
}
