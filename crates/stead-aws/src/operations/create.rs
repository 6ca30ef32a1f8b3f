//! Creates.

use stead_model::{Map, NextStep, PhysicalId};
use stead_provider::{CallOutcome, CreateRequest, Created, Doubt, PartialResult, Receipt, Refusal};

use stead_schema::cfn::{HandlerKind, permissions};

use super::{Found, in_doubt, not_started, not_told};
use crate::comparison::{inputs_first_read, inputs_half_made};
use crate::fault::{Fault, FaultKind};
use crate::model::{self, MAX_TEXT};
use crate::progress::{Earlier, End, earlier, finish};
use crate::{AwsProvider, ServedType};

/// Reason why a create of an earlier run is not sent again.
const FORGOTTEN: &str = "AWS forgets a request after 36 hours, and the id of the resource is not known: a second request \
                         could create a second resource";

/// Why a resource is not as it was asked for, although the operation succeeded.
pub(super) const CHANGED_BEFORE: &str =
    "the resource differs from the request of an earlier run, and may have been changed since";

impl AwsProvider {
    pub(crate) async fn create_resource(
        &self,
        receipt: &Receipt,
        request: &CreateRequest<'_>,
    ) -> CallOutcome<Created> {
        let served = match self.served(request.resource) {
            Ok(served) => served,
            Err(refusal) => return CallOutcome::Refused(refusal),
        };
        let mut desired = request.inputs.clone();
        if let (Some(tags), Some(owner)) = (served.tags.as_ref().filter(|tags| tags.on_create), request.owner)
        {
            tags.add_mark(&mut desired, owner);
        }
        let desired = model::to_json(&desired);
        if desired.chars().count() > MAX_TEXT {
            return CallOutcome::Refused(too_long("the properties"));
        }
        match earlier(&self.client, receipt).await {
            Earlier::Ended(end) => return self.create_ended(&served, (receipt, request), end).await,
            // A resource that exists under the same identifier keeps the request from creating a second one.
            Earlier::Forgotten if model::identifier(served.schema, request.inputs).is_none() => {
                return CallOutcome::InDoubt(Doubt { message: FORGOTTEN.to_owned() });
            }
            Earlier::Repeatable | Earlier::Forgotten => {}
        }
        let started = self.client.create(served.name(), &desired, receipt.idempotency_key()).await;
        match started {
            Ok(event) => {
                let end = finish(&self.client, receipt, event).await;
                self.create_ended(&served, (receipt, request), end).await
            }
            Err(fault) if fault.kind == FaultKind::AlreadyExists => {
                self.adopted(&served, (receipt, request), None, fault.refusal()).await
            }
            // A request with this token was accepted before, with other parameters than today's.
            Err(fault) if fault.kind == FaultKind::TokenConflict && receipt.attempt() > 1 => in_doubt(&fault),
            Err(fault) if fault.kind == FaultKind::Denied => {
                CallOutcome::Refused(self.explained(&served, &fault))
            }
            Err(fault) => not_started(&fault),
        }
    }

    /// Asks for the end of a create of an earlier run, and sends nothing.
    pub(crate) async fn ask_create(
        &self,
        receipt: &Receipt,
        request: &CreateRequest<'_>,
    ) -> CallOutcome<Created> {
        let served = match self.served(request.resource) {
            Ok(served) => served,
            Err(refusal) => return CallOutcome::Refused(refusal),
        };
        match earlier(&self.client, receipt).await {
            Earlier::Ended(end) => self.create_ended(&served, (receipt, request), end).await,
            Earlier::Repeatable | Earlier::Forgotten => not_told(),
        }
    }

    /// Returns the outcome of a create that the service accepted.
    async fn create_ended(
        &self,
        served: &ServedType<'_>,
        (receipt, request): (&Receipt, &CreateRequest<'_>),
        end: End,
    ) -> CallOutcome<Created> {
        match end {
            End::Succeeded { identifier, model } => {
                self.created(served, (receipt, request.inputs), identifier, model.as_deref()).await
            }
            End::Failed { identifier, fault } if fault.kind == FaultKind::AlreadyExists => {
                self.adopted(served, (receipt, request), identifier, fault.refusal().of_operation()).await
            }
            End::Failed { identifier: Some(identifier), fault } => {
                self.half_made(served, request, &identifier, &fault).await
            }
            End::Failed { identifier: None, fault } => {
                CallOutcome::Refused(self.explained(served, &fault).of_operation())
            }
            End::Unknown(fault) => in_doubt(&fault),
        }
    }

    async fn created(
        &self,
        served: &ServedType<'_>,
        (receipt, inputs): (&Receipt, &Map),
        identifier: String,
        model: Option<&str>,
    ) -> CallOutcome<Created> {
        let (reason, id) = match self.read_back(served, &identifier).await {
            Ok(Some(found)) => return first_read(served, receipt, inputs, found),
            Ok(None) => ("a read still does not find it".to_owned(), identifier),
            Err(fault) => (fault.message, identifier),
        };
        // The resource exists, so that its id is recorded in any case. Its outputs are those that the event had.
        let outputs = model.and_then(|model| model::parse(model).ok()).unwrap_or_default();
        let refusal = Refusal::new(format!("it was created with the id {id}, and cannot be read: {reason}"))
            .help(NextStep::Refresh);
        let done = Created { id: PhysicalId(id), outputs };
        CallOutcome::Partial(PartialResult { done, inputs: inputs.clone(), refusal })
    }

    /// Takes over a resource that exists, if an earlier attempt at this create made it. Its mark tells.
    async fn adopted(
        &self,
        served: &ServedType<'_>,
        (receipt, request): (&Receipt, &CreateRequest<'_>),
        identifier: Option<String>,
        refusal: Refusal,
    ) -> CallOutcome<Created> {
        let refused = || {
            CallOutcome::Refused(match refusal.help {
                None => refusal.help(NextStep::Import),
                Some(_) => refusal,
            })
        };
        let identifier = identifier.or_else(|| model::identifier(served.schema, request.inputs));
        let (Some(identifier), Some(owner), Some(tags)) = (identifier, request.owner, &served.tags) else {
            return refused();
        };
        match self.get(served, &identifier).await {
            Ok(Some(found)) if tags.uid(&found.model).as_ref() == Some(&owner.uid) => {
                first_read(served, receipt, request.inputs, found)
            }
            _ => refused(),
        }
    }

    /// Keeps the resource of a create that failed half-way, if the create made it.
    ///
    /// A failed create tells the identifier that it asked for even if another resource has it. Such a resource has another mark,
    /// or none.
    async fn half_made(
        &self,
        served: &ServedType<'_>,
        request: &CreateRequest<'_>,
        identifier: &str,
        fault: &Fault,
    ) -> CallOutcome<Created> {
        let nothing_made = || CallOutcome::Refused(self.explained(served, fault).of_operation());
        let unknown = |reason: String| {
            in_doubt(&Fault { message: format!("{}; and {reason}", fault.message), ..fault.clone() })
        };
        let is_named = model::identifier(served.schema, request.inputs).is_some();
        let read = match fault.kind {
            // The identifier is only that of the request. A denial comes before the resource as a rule, and should be told at once.
            FaultKind::Denied if is_named => self.read_or_deleted(served, identifier).await,
            _ => self.read_back(served, identifier).await,
        };
        let found = match read {
            Ok(Some(found)) => found,
            Ok(None) => return nothing_made(),
            // The same request tells, once the resource can be read.
            Err(unread) => return unknown(format!("{identifier} cannot be read: {}", unread.message)),
        };
        match maker(served, request, &found, fault) {
            Maker::Create => {
                let outputs = found.outputs(served);
                let inputs = inputs_half_made(served.schema, request.inputs, &outputs);
                let refusal = Refusal { class: Default::default(), ..self.explained(served, fault) };
                let done = Created { id: PhysicalId(found.identifier), outputs };
                CallOutcome::Partial(PartialResult { done, inputs, refusal })
            }
            Maker::Another => nothing_made(),
            Maker::Unknown => {
                unknown(format!("{identifier} exists without a mark, and may be older than the create"))
            }
        }
    }

    /// Returns the refusal of a create that failed. After a denial, the hint names the missing actions.
    fn explained(&self, served: &ServedType<'_>, fault: &Fault) -> Refusal {
        let refusal = fault.refusal();
        if fault.kind != FaultKind::Denied || refusal.help.is_some() {
            return refusal;
        }
        let needed = permissions(served.name(), HandlerKind::Create);
        refusal.help(format!("to create a {}, allow the caller: {}", served.ty.class(), needed.join(", ")))
    }
}

/// Origin of a resource that exists after a failed create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Create,
    Another,
    Unknown,
}

/// Returns whether a failed create made a resource.
///
/// An identifier that the service chose is new. One that the create asked for may be that of an older resource: the mark tells,
/// or, for types without marks, that the service waited for the resource to become ready.
fn maker(served: &ServedType<'_>, request: &CreateRequest<'_>, found: &Found, fault: &Fault) -> Maker {
    if model::identifier(served.schema, request.inputs).is_none() {
        return Maker::Create;
    }
    let marked = served.tags.as_ref().filter(|tags| tags.on_create).zip(request.owner);
    match marked.map(|(tags, owner)| (tags.uid(&found.model), owner)) {
        Some((Some(uid), owner)) if uid == owner.uid => Maker::Create,
        Some((Some(_), _)) => Maker::Another,
        None if fault.kind == FaultKind::NotStabilized => Maker::Create,
        Some((None, _)) | None => Maker::Unknown,
    }
}

/// Returns the outcome of a create that happened.
///
/// After a crash, the resource may have been changed before this first read of it. A difference is recorded as it is, so that the
/// next plan shows it, and not as a value that the service made of the request.
fn first_read(served: &ServedType<'_>, receipt: &Receipt, sent: &Map, found: Found) -> CallOutcome<Created> {
    let outputs = found.outputs(served);
    let inputs = match receipt.attempt() {
        1 => sent.clone(),
        _ => inputs_first_read(served.schema, sent, &outputs),
    };
    let done = Created { id: PhysicalId(found.identifier), outputs };
    if inputs == *sent {
        return CallOutcome::Done(done);
    }
    CallOutcome::Partial(PartialResult { done, inputs, refusal: Refusal::new(CHANGED_BEFORE) })
}

pub(super) fn too_long(what: &str) -> Refusal {
    Refusal::new(format!("{what} have more than {MAX_TEXT} characters, which Cloud Control does not take"))
        .help("move long texts to an object in a bucket, and refer to it")
}
