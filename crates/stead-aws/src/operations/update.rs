//! Updates: a patch from a fresh read.

use stead_model::{Map, NextStep, PropertyPath};
use stead_provider::{CallOutcome, PartialResult, Receipt, Refusal, UpdateRequest, Updated};
use stead_schema::cfn::{self, Update};

use super::{Found, in_doubt, not_started, not_told};
use crate::comparison::{Sides, drift, inputs_after_failure, inputs_after_update, update};
use crate::fault::{Fault, FaultKind};
use crate::model::MAX_TEXT;
use crate::operations::create::{CHANGED_BEFORE, too_long};
use crate::progress::{Earlier, End, earlier, finish};
use crate::tags::TagProperty;
use crate::{AwsProvider, ServedType};

/// Attempts at an update while another operation on the resource is under way.
const BUSY_ATTEMPTS: u32 = 30;

/// Result of making a patch.
enum Prepared {
    /// The live resource is as desired.
    Nothing,
    Patch(String),
    Refused(Refusal),
}

impl AwsProvider {
    pub(crate) async fn update_resource(
        &self,
        receipt: &Receipt,
        request: &UpdateRequest<'_>,
    ) -> CallOutcome<Updated> {
        let resource = request.resource;
        let served = match self.served(&resource.ty) {
            Ok(served) => served,
            Err(refusal) => return CallOutcome::Refused(refusal),
        };
        let Some(id) = &resource.id else { return CallOutcome::Refused(Refusal::new("it has no id")) };
        // A second patch does no harm: it is made from a fresh read.
        if let Earlier::Ended(end) = earlier(&self.client, receipt).await {
            return self.updated(&served, (receipt, request), end).await;
        }
        let mut token = receipt.idempotency_key().to_owned();
        for attempt in 1.. {
            let found = match self.get(&served, id.as_str()).await {
                Ok(Some(found)) => found,
                Ok(None) => return CallOutcome::Refused(gone(id.as_str())),
                Err(fault) => return CallOutcome::Refused(fault.refusal()),
            };
            // A patch of an earlier attempt may have been carried out in part.
            let repeated = receipt.attempt() > 1 || attempt > 1;
            let patch = match prepare(&served, request, &found, repeated) {
                Prepared::Nothing => {
                    return CallOutcome::Done(Updated { outputs: found.outputs(&served) });
                }
                Prepared::Refused(refusal) => return CallOutcome::Refused(refusal),
                Prepared::Patch(patch) => patch,
            };
            match self.client.update(served.name(), id.as_str(), &patch, &token).await {
                Ok(event) => {
                    let end = finish(&self.client, receipt, event).await;
                    return self.updated(&served, (receipt, request), end).await;
                }
                Err(fault) if fault.kind == FaultKind::Conflict && attempt < BUSY_ATTEMPTS => {}
                // The patch is made anew from each read, so a repeated one may differ from the first. It leads to the same
                // end, and the service carries out one operation at a time.
                Err(fault)
                    if fault.kind == FaultKind::TokenConflict && repeated && attempt < BUSY_ATTEMPTS =>
                {
                    token = format!("{}-{attempt}", receipt.idempotency_key());
                }
                Err(fault) if fault.kind == FaultKind::NotUpdatable => {
                    return CallOutcome::Refused(not_in_place(&served, &fault));
                }
                Err(fault) => return not_started(&fault),
            }
            self.client.pause(attempt).await;
        }
        CallOutcome::Refused(Refusal::transient("other operations on the resource do not end"))
    }

    /// Asks for the end of an update of an earlier run, and sends nothing.
    pub(crate) async fn ask_update(
        &self,
        receipt: &Receipt,
        request: &UpdateRequest<'_>,
    ) -> CallOutcome<Updated> {
        let served = match self.served(&request.resource.ty) {
            Ok(served) => served,
            Err(refusal) => return CallOutcome::Refused(refusal),
        };
        match earlier(&self.client, receipt).await {
            Earlier::Ended(end) => self.updated(&served, (receipt, request), end).await,
            Earlier::Repeatable | Earlier::Forgotten => not_told(),
        }
    }

    async fn updated(
        &self,
        served: &ServedType<'_>,
        (receipt, request): (&Receipt, &UpdateRequest<'_>),
        end: End,
    ) -> CallOutcome<Updated> {
        let id = request.resource.id.as_ref().map(|id| id.as_str()).unwrap_or_default();
        match end {
            End::Succeeded { .. } => match self.read_back(served, id).await {
                Ok(Some(found)) => settled(served, receipt, request, found.outputs(served)),
                Ok(None) => CallOutcome::Refused(gone(id)),
                // The update was carried out; only its outputs are unknown.
                Err(fault) => in_doubt(&fault),
            },
            End::Failed { fault, .. } => {
                let refusal = match fault.kind {
                    FaultKind::NotUpdatable => not_in_place(served, &fault),
                    _ => fault.refusal(),
                };
                let resource = request.resource;
                match self.get(served, id).await {
                    Ok(Some(found)) => {
                        let outputs = found.outputs(served);
                        if outputs == resource.outputs {
                            return CallOutcome::Refused(refusal.of_operation());
                        }
                        let inputs = (request.old_inputs, &resource.inputs);
                        let inputs = inputs_after_failure(served.schema, inputs, &resource.outputs, &outputs);
                        let refusal = Refusal { class: Default::default(), ..refusal };
                        CallOutcome::Partial(PartialResult { done: Updated { outputs }, inputs, refusal })
                    }
                    Ok(None) => CallOutcome::Refused(gone(id)),
                    Err(_) => in_doubt(&fault),
                }
            }
            End::Unknown(fault) => in_doubt(&fault),
        }
    }
}

/// Returns the outcome of an update that happened.
///
/// After a crash, values that differ from the request and from the last read are recorded as they are: they may have been changed
/// before this read.
fn settled(
    served: &ServedType<'_>,
    receipt: &Receipt,
    request: &UpdateRequest<'_>,
    outputs: Map,
) -> CallOutcome<Updated> {
    let sent = request.resource;
    let inputs = match receipt.attempt() {
        1 => sent.inputs.clone(),
        _ => {
            let inputs = (request.old_inputs, &sent.inputs);
            inputs_after_update(served.schema, inputs, &sent.outputs, &outputs)
        }
    };
    let done = Updated { outputs };
    if inputs == sent.inputs {
        return CallOutcome::Done(done);
    }
    CallOutcome::Partial(PartialResult { done, inputs, refusal: Refusal::new(CHANGED_BEFORE) })
}

/// Makes the patch from the live resource to the desired inputs.
fn prepare(served: &ServedType<'_>, request: &UpdateRequest<'_>, found: &Found, repeated: bool) -> Prepared {
    let resource = request.resource;
    let (mut last, mut settled, mut want) =
        (request.old_inputs.clone(), resource.outputs.clone(), resource.inputs.clone());
    if let Some(tags) = &served.tags {
        carry_mark(tags, request, found, [&mut last, &mut settled, &mut want]);
    }
    let sides = Sides { last: &last, settled: &settled, live: &found.model, want: &want };
    match update(served.schema, &sides) {
        Update::Nothing => Prepared::Nothing,
        Update::Patch { operations, .. } => {
            // Without the mark, which was put among the recorded tags at another place than the service has it.
            let drifted = drift(served.schema, &operations, &resource.outputs, &found.outputs(served));
            if !repeated && let Some(first) = drifted.first() {
                return Prepared::Refused(changed_outside(first));
            }
            let patch = cfn::patch_document(&operations).to_json();
            match patch.chars().count() > MAX_TEXT {
                true => Prepared::Refused(too_long("the changes")),
                false => Prepared::Patch(patch),
            }
        }
        Update::Replace { forced_by, .. } => {
            let paths: Vec<String> = forced_by.iter().map(|reason| format!("`{}`", reason.path)).collect();
            let message = format!("it would have to be replaced, because of {}", paths.join(", "));
            Prepared::Refused(Refusal::new(message).help(NextStep::Refresh))
        }
        Update::Impossible(reasons) => {
            let reasons: Vec<String> =
                reasons.iter().map(|reason| format!("`{}`: {}", reason.path, reason.why)).collect();
            Prepared::Refused(Refusal::new(format!("it cannot be updated: {}", reasons.join("; "))))
        }
    }
}

/// Puts the owner's mark into all sides of the comparison, so that a change of the tags keeps it, and adds it where it is missing.
fn carry_mark(
    tags: &TagProperty,
    request: &UpdateRequest<'_>,
    found: &Found,
    [last, settled, want]: [&mut Map; 3],
) {
    let Some(owner) = request.owner.filter(|_| tags.on_update) else { return };
    if !want.contains_key(&tags.name)
        && let Some(live) = found.model.get(&tags.name)
    {
        // Tags that were never declared belong to others, and stay. Those that were declared before go.
        want.insert(tags.name.as_str(), live.clone());
        tags.remove_declared(want, last);
        for side in [&mut *last, &mut *settled] {
            side.insert(tags.name.as_str(), live.clone());
        }
    }
    tags.add_mark(want, owner);
    if let Some(there) = tags.mark(&found.model) {
        tags.add_mark(last, &there);
        tags.add_mark(settled, &there);
    }
}

/// Returns the refusal of a change that the service does not make in place.
///
/// The help is for a property whose schema does not say so: the plan shows no replacement then.
fn not_in_place(served: &ServedType<'_>, fault: &Fault) -> Refusal {
    let help = format!(
        "to replace the {} instead, name the property in the option `replaceOnChanges`",
        served.ty.class()
    );
    fault.refusal().not_in_place().help(help)
}

fn gone(id: &str) -> Refusal {
    Refusal::new(format!("{id} does not exist any more")).help(NextStep::Refresh)
}

fn changed_outside(path: &PropertyPath) -> Refusal {
    Refusal::new(format!("`{path}` was changed outside of stead since it was last read"))
        .at(path.root().unwrap_or_default())
        .help(NextStep::Refresh)
}
