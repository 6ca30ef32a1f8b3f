//! Requests from the evaluation thread to the caller: files, types, existing resources, outputs of other stacks.
//!
//! The caller's thread answers, so that sources and catalog need not be shared or copied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

use stead_model::{Code, Diagnostic, Map, TypeToken, Value};
use stead_schema::{Catalog, TypeSchema};

use crate::testing::{Compared, Refused, TestHost};
use crate::{Entry, LookUpProvider, Sources, StackRef};

/// Answer of [`Sources`]; `None` if the requested item does not exist.
pub(crate) type SourceResult<T> = Result<Option<T>, String>;

enum Request {
    Read {
        path: String,
        reply: SyncSender<SourceResult<String>>,
    },
    ReadBytes {
        path: String,
        reply: SyncSender<SourceResult<Vec<u8>>>,
    },
    RealPath {
        path: String,
        reply: SyncSender<Result<String, String>>,
    },
    Environment {
        reply: SyncSender<Result<Vec<(String, String)>, String>>,
    },
    List {
        folder: String,
        reply: SyncSender<SourceResult<Vec<Entry>>>,
    },
    LookUp {
        token: TypeToken,
        id: String,
        provider: Option<LookUpProvider>,
        reply: SyncSender<SourceResult<Map>>,
    },
    Outputs {
        stack: StackRef,
        reply: SyncSender<SourceResult<Map>>,
    },
    Types {
        provider: String,
        reply: SyncSender<Vec<TypeToken>>,
    },
    Schema {
        token: TypeToken,
        reply: SyncSender<Option<TypeSchema>>,
    },
    Test {
        request: String,
        argument: Value,
        reply: SyncSender<Result<Value, Refused>>,
    },
    Snapshot {
        test: String,
        hint: String,
        value: Value,
        reply: SyncSender<Compared>,
    },
}

/// Sends requests from the evaluation thread.
#[derive(Clone)]
pub(crate) struct Requester {
    requests: std::sync::mpsc::Sender<Request>,
    /// Work of the requests for files that the caller's thread answered, in thousandths of an interrupt.
    work: Arc<AtomicU64>,
}

/// Work of a request, of one entry of a folder, and number of bytes whose reading is one unit of work.
const REQUEST: u64 = 200;
const ENTRY: u64 = 10;
const BYTES: u64 = 1024;
const INTERRUPT: u64 = 1000;

/// Answers requests on the caller's thread.
pub(crate) struct Responder {
    requests: Receiver<Request>,
}

pub(crate) fn open() -> (Requester, Responder) {
    let (sender, receiver) = channel();
    (Requester { requests: sender, work: Arc::default() }, Responder { requests: receiver })
}

impl Requester {
    /// Returns a requester that fails every request, for use after the evaluation.
    pub(crate) fn closed() -> Requester {
        Requester { requests: channel().0, work: Arc::default() }
    }

    /// Returns the number of interrupts that the requests for files took since the last call.
    pub(crate) fn take_work(&self) -> u64 {
        let units = self.work.load(Ordering::Relaxed) / INTERRUPT;
        self.work.fetch_sub(units * INTERRUPT, Ordering::Relaxed);
        units
    }

    fn count(&self, work: u64) {
        self.work.fetch_add(REQUEST.saturating_add(work), Ordering::Relaxed);
    }

    pub(crate) fn read(&self, path: &str) -> SourceResult<String> {
        let read = self.ask(|reply| Request::Read { path: path.to_owned(), reply }).unwrap_or_else(ended);
        self.count(read.as_ref().ok().and_then(Option::as_ref).map_or(0, |text| text.len() as u64 / BYTES));
        read
    }

    pub(crate) fn read_bytes(&self, path: &str) -> SourceResult<Vec<u8>> {
        let read =
            self.ask(|reply| Request::ReadBytes { path: path.to_owned(), reply }).unwrap_or_else(ended);
        self.count(read.as_ref().ok().and_then(Option::as_ref).map_or(0, |bytes| bytes.len() as u64 / BYTES));
        read
    }

    /// Returns the path behind the symbolic links of a path.
    pub(crate) fn real_path(&self, path: &str) -> Result<String, String> {
        let answer = self.ask(|reply| Request::RealPath { path: path.to_owned(), reply });
        answer.unwrap_or_else(|| Ok(path.to_owned()))
    }

    /// Returns the variables of the environment that the project grants to its program.
    pub(crate) fn environment(&self) -> Result<Vec<(String, String)>, String> {
        self.ask(|reply| Request::Environment { reply }).unwrap_or_else(|| Ok(Vec::new()))
    }

    pub(crate) fn list(&self, folder: &str) -> SourceResult<Vec<Entry>> {
        let list = self.ask(|reply| Request::List { folder: folder.to_owned(), reply }).unwrap_or_else(ended);
        self.count(list.as_ref().ok().and_then(Option::as_ref).map_or(0, |all| all.len() as u64 * ENTRY));
        list
    }

    pub(crate) fn look_up(
        &self,
        token: &TypeToken,
        id: &str,
        provider: Option<LookUpProvider>,
    ) -> SourceResult<Map> {
        let (token, id) = (token.clone(), id.to_owned());
        self.ask(|reply| Request::LookUp { token, id, provider, reply }).unwrap_or_else(ended)
    }

    pub(crate) fn outputs(&self, stack: &StackRef) -> SourceResult<Map> {
        self.ask(|reply| Request::Outputs { stack: stack.clone(), reply }).unwrap_or_else(ended)
    }

    /// Returns the type tokens of a provider in order.
    pub(crate) fn types(&self, provider: &str) -> Vec<TypeToken> {
        self.ask(|reply| Request::Types { provider: provider.to_owned(), reply }).unwrap_or_default()
    }

    pub(crate) fn schema(&self, token: &TypeToken) -> Option<TypeSchema> {
        self.ask(|reply| Request::Schema { token: token.clone(), reply }).flatten()
    }

    /// Sends a request of a test file.
    pub(crate) fn test(&self, request: &str, argument: Value) -> Result<Value, Refused> {
        let request = request.to_owned();
        let answer = self.ask(|reply| Request::Test { request, argument, reply });
        answer.unwrap_or_else(|| {
            let problem = Diagnostic::error(Code::TEST_REQUEST, "the test run has ended");
            Err(Refused::Misuse(Box::new(problem)))
        })
    }

    pub(crate) fn snapshot(&self, test: &str, hint: &str, value: Value) -> Compared {
        let (test, hint) = (test.to_owned(), hint.to_owned());
        let answer = self.ask(|reply| Request::Snapshot { test, hint, value, reply });
        let ended = || Compared::Differs { message: "the test run has ended".to_owned(), difference: None };
        answer.unwrap_or_else(ended)
    }

    fn ask<T>(&self, request: impl FnOnce(SyncSender<T>) -> Request) -> Option<T> {
        let (reply, answer) = sync_channel(1);
        self.requests.send(request(reply)).ok()?;
        answer.recv().ok()
    }
}

fn ended<T>() -> SourceResult<T> {
    Err("the evaluation has ended".to_owned())
}

impl Responder {
    /// Answers requests until the evaluation drops its requester.
    pub(crate) fn serve(self, sources: &dyn Sources, catalog: &Catalog) {
        self.answer_all(sources, catalog, None);
    }

    /// Answers the requests of a test file until it drops its requester.
    pub(crate) fn serve_tests(self, sources: &dyn Sources, catalog: &Catalog, host: &dyn TestHost) {
        self.answer_all(sources, catalog, Some(host));
    }

    fn answer_all(self, sources: &dyn Sources, catalog: &Catalog, host: Option<&dyn TestHost>) {
        for request in self.requests {
            match request {
                Request::Read { path, reply } => drop(reply.send(sources.read(&path))),
                Request::ReadBytes { path, reply } => drop(reply.send(sources.read_bytes(&path))),
                Request::RealPath { path, reply } => drop(reply.send(sources.real_path(&path))),
                Request::Environment { reply } => drop(reply.send(sources.environment())),
                Request::List { folder, reply } => drop(reply.send(sources.list(&folder))),
                Request::LookUp { token, id, provider, reply } => {
                    drop(reply.send(sources.look_up(&token, &id, provider.as_ref())));
                }
                Request::Outputs { stack, reply } => drop(reply.send(sources.outputs(&stack))),
                Request::Types { provider, reply } => {
                    drop(reply.send(catalog.tokens_of(&provider).cloned().collect()));
                }
                Request::Schema { token, reply } => drop(reply.send(catalog.get(&token).cloned())),
                // Without a host, the reply is dropped, which ends the request.
                Request::Test { request, argument, reply } => {
                    host.into_iter().for_each(|host| drop(reply.send(host.answer(&request, &argument))));
                }
                Request::Snapshot { test, hint, value, reply } => {
                    host.into_iter().for_each(|host| drop(reply.send(host.snapshot(&test, &hint, &value))));
                }
            }
        }
    }
}
