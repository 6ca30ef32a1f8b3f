//! What the evaluation asks of its caller while it runs on a thread of its own: files, types, what
//! exists already.
//!
//! The caller's thread answers, so that neither the sources nor the catalog need to be shared or copied.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use stead_model::{Map, TypeToken};
use stead_schema::{Catalog, TypeSchema};

use crate::{Entry, Sources, StackRef};

/// Something of the project's files; `None` if it is not there.
pub(crate) type Found<T> = Result<Option<T>, String>;

enum Request {
    Read { path: String, reply: SyncSender<Found<String>> },
    ReadBytes { path: String, reply: SyncSender<Found<Vec<u8>>> },
    List { folder: String, reply: SyncSender<Found<Vec<Entry>>> },
    LookUp { token: TypeToken, id: String, reply: SyncSender<Found<Map>> },
    Outputs { stack: StackRef, reply: SyncSender<Found<Map>> },
    Types { provider: String, reply: SyncSender<Vec<TypeToken>> },
    Schema { token: TypeToken, reply: SyncSender<Option<TypeSchema>> },
}

/// The asking side.
#[derive(Clone)]
pub(crate) struct Port {
    requests: std::sync::mpsc::Sender<Request>,
}

/// The answering side.
pub(crate) struct Desk {
    requests: Receiver<Request>,
}

pub(crate) fn open() -> (Port, Desk) {
    let (sender, receiver) = channel();
    (Port { requests: sender }, Desk { requests: receiver })
}

impl Port {
    /// Asks nobody: the evaluation is over, and its caller is gone.
    pub(crate) fn closed() -> Port {
        Port { requests: channel().0 }
    }

    pub(crate) fn read(&self, path: &str) -> Found<String> {
        self.ask(|reply| Request::Read { path: path.to_owned(), reply }).unwrap_or_else(ended)
    }

    pub(crate) fn read_bytes(&self, path: &str) -> Found<Vec<u8>> {
        self.ask(|reply| Request::ReadBytes { path: path.to_owned(), reply }).unwrap_or_else(ended)
    }

    pub(crate) fn list(&self, folder: &str) -> Found<Vec<Entry>> {
        self.ask(|reply| Request::List { folder: folder.to_owned(), reply }).unwrap_or_else(ended)
    }

    pub(crate) fn look_up(&self, token: &TypeToken, id: &str) -> Found<Map> {
        let (token, id) = (token.clone(), id.to_owned());
        self.ask(|reply| Request::LookUp { token, id, reply }).unwrap_or_else(ended)
    }

    pub(crate) fn outputs(&self, stack: &StackRef) -> Found<Map> {
        self.ask(|reply| Request::Outputs { stack: stack.clone(), reply }).unwrap_or_else(ended)
    }

    /// The types that a provider serves, in order.
    pub(crate) fn types(&self, provider: &str) -> Vec<TypeToken> {
        self.ask(|reply| Request::Types { provider: provider.to_owned(), reply }).unwrap_or_default()
    }

    pub(crate) fn schema(&self, token: &TypeToken) -> Option<TypeSchema> {
        self.ask(|reply| Request::Schema { token: token.clone(), reply }).flatten()
    }

    fn ask<T>(&self, request: impl FnOnce(SyncSender<T>) -> Request) -> Option<T> {
        let (reply, answer) = sync_channel(1);
        self.requests.send(request(reply)).ok()?;
        answer.recv().ok()
    }
}

fn ended<T>() -> Found<T> {
    Err("the evaluation was ended".to_owned())
}

impl Desk {
    /// Answers until the evaluation is over. A reply that nobody waits for any more is dropped.
    pub(crate) fn serve(self, sources: &dyn Sources, catalog: &Catalog) {
        for request in self.requests {
            match request {
                Request::Read { path, reply } => drop(reply.send(sources.read(&path))),
                Request::ReadBytes { path, reply } => drop(reply.send(sources.read_bytes(&path))),
                Request::List { folder, reply } => drop(reply.send(sources.list(&folder))),
                Request::LookUp { token, id, reply } => drop(reply.send(sources.look_up(&token, &id))),
                Request::Outputs { stack, reply } => drop(reply.send(sources.outputs(&stack))),
                Request::Types { provider, reply } => {
                    drop(reply.send(catalog.tokens_of(&provider).cloned().collect()));
                }
                Request::Schema { token, reply } => drop(reply.send(catalog.get(&token).cloned())),
            }
        }
    }
}
