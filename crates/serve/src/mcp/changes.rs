//! Notifies clients of list changes.
//!
//! Clients of 2026-07-28 subscribe with `subscriptions/listen` and are notified on the stream of that request. Older ones are notified in
//! their session: over HTTP on the stream that they open with GET, and of earlier changes when they open it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use prospector_core::Owner;
use rmcp::{Peer, RoleServer, model::ProtocolVersion, service::SubscriptionContext};
use tokio_util::sync::CancellationToken;

use crate::server::Server;

/// State of one client, as long as the SDK serves it.
#[derive(Default)]
pub(super) struct Session {
    /// Whether notifications have been started.
    is_notifying: AtomicBool,
    over: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

/// Notifies an older client of changes until its session ends.
pub(super) fn notify(server: &Arc<Server>, owner: &Owner, session: &Session, peer: Peer<RoleServer>) {
    let is_older = peer.peer_info().is_some_and(|client| client.protocol_version < ProtocolVersion::V_2026_07_28);
    if !is_older || session.is_notifying.swap(true, Ordering::Relaxed) {
        return;
    }
    let (over, closing) = (session.over.clone(), server.closing.clone());
    let mut changes = server.catalog.follow_changes(owner);
    let notifying = async move {
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
            () = notifying => {}
        }
    });
}

/// Notifies a client of its subscriptions, until it cancels them or the server closes.
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
