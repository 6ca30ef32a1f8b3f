//! Hints: advice on how to fix a problem, as data.
//!
//! **Invariant:** no hint contains the syntax of a command line. A [`NextStep`] names an operation of the library; each front end
//! phrases it in its own words through [`Hint::phrased`].

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{Code, Environment, Name, Operation, PhysicalId, Place, TypeToken};

/// An operation that a hint proposes.
///
/// `Display` gives words for a front end that has none of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Apply the program.
    Apply,
    /// Apply the program and remove pins without a resource from the pinfile.
    ApplyKeepingPinned,
    /// Evaluate the program and write graph and pinfile.
    Compile,
    /// Read every resource from its provider and record the result.
    Refresh,
    /// Plan after a read of every resource.
    PlanRefreshed,
    /// Apply the program after a read of every resource.
    ApplyRefreshed,
    /// Import an existing resource.
    Import,
    /// Import this resource under this name.
    ImportAs {
        ty: TypeToken,
        name: Name,
        id: PhysicalId,
    },
    /// List the resources of a type within a parent.
    ListChildren {
        ty: String,
        keys: Vec<String>,
    },
    /// Record another name for a resource.
    Rename {
        from: Name,
        to: Name,
    },
    /// Record another place for all resources in a module or in an instance.
    RenamePlace {
        from: Place,
        to: Place,
    },
    /// Apply the program, with certain moves as renames.
    AcceptMoves,
    ListState,
    ShowGraph,
    ListStacks,
    ListPins,
    /// Remove an entry from the pinfile.
    RemovePin {
        path: String,
    },
    /// Record the new path of a pinned resource.
    MovePin {
        from: String,
        to: String,
    },
    /// Remove the entries of releases and moves that every environment has applied.
    PrunePins,
    /// Write the pins that state remembers into the pinfile.
    RestorePins,
    /// Remove the protection that was set on a record itself.
    Unprotect {
        name: Name,
    },
    /// State whether an operation in doubt happened.
    Resolve {
        name: Name,
        answer: ResolveAnswer,
    },
    /// State the outputs of a resource that no provider can read.
    StateOutputs {
        names: Vec<String>,
    },
    /// Extend the selection to the dependencies of the selected resources.
    SelectDependencies,
    /// Extend the selection to the dependents of the selected resources.
    SelectDependents,
    /// Read the stack of another environment and target, which settles an unfinished move.
    RefreshStack {
        environment: String,
        target: String,
    },
    /// Apply the program to another environment and target.
    ApplyStack {
        environment: String,
        target: String,
    },
    /// Create an empty stack.
    CreateStack,
    /// List the runs of the stack.
    ShowHistory,
    /// Go by the recorded protection, without asking the program.
    WithoutProgram,
    /// Record another name for this resource.
    RenameFrom {
        from: Name,
    },
    /// Move resources to another stack of the project.
    MoveToStack,
    /// Delete the resources of an environment.
    Destroy {
        environment: Environment,
    },
    /// Start a project, or choose the folder of one.
    StartProject,
    /// Read the page of an error code.
    Explain {
        code: Code,
    },
    /// Export the stack to a file.
    ExportStack,
    /// Make the data key of a stack.
    InitSecrets,
    /// Let a further manager or recipient open the secrets.
    AddKeyManager,
    /// Take a manager or recipient away.
    RemoveKeyManager,
    /// Put one manager in the place of another.
    ChangeKeyManager,
    /// Give the recipient another name.
    NameRecipient,
    /// Set a config value as a secret.
    SetSecretConfig,
    /// Remove a config value.
    RemoveConfig,
    /// Show where config values come from.
    ExplainConfig,
    /// Save a plan to a file.
    SavePlan {
        file: String,
    },
    /// Apply a saved plan.
    ApplySavedPlan,
    /// Take a real resource from the stack that owns it.
    TakeOver {
        name: Name,
    },
    /// Limit the operation to some resources.
    SelectResources,
    /// Add an environment to the project.
    CreateEnvironment {
        name: String,
    },
    /// Repeat the operation in another environment.
    SelectEnvironment {
        environment: Environment,
    },
    /// Remove the stack although it still has resources, and stop managing them.
    ForgetResources,
    /// Import the state of another stack.
    AcceptOtherStack,
    /// Import state although guarded records, marks or operations are lost.
    AcceptLosses,
    /// Record that the resources of the stack are in the place to which the providers lead now.
    AcceptPlace,
}

/// How a person can answer for an operation in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveAnswer {
    /// The operation happened; a create needs the physical id.
    Happened(Operation),
    DidNotHappen,
    /// Send the same request again.
    Retry,
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NextStep::Apply => f.write_str("apply the program"),
            NextStep::ApplyKeepingPinned => f.write_str("apply the program and keep the pinned resources"),
            NextStep::Compile => f.write_str("compile the program"),
            NextStep::Refresh => f.write_str("refresh the stack"),
            NextStep::PlanRefreshed => f.write_str("plan with a refresh"),
            NextStep::ApplyRefreshed => f.write_str("apply with a refresh"),
            NextStep::Import => f.write_str("import the resource"),
            NextStep::ImportAs { ty, name, id } => write!(f, "import the {ty} {id} as {name}"),
            NextStep::Rename { from, to } => write!(f, "rename {from} to {to}"),
            NextStep::RenamePlace { from, to } => write!(f, "rename all resources in {from} to {to}"),
            NextStep::AcceptMoves => f.write_str("apply the program with the certain moves as renames"),
            NextStep::ListState => f.write_str("list the recorded resources"),
            NextStep::ShowGraph => f.write_str("show the graph"),
            NextStep::ListStacks => f.write_str("list the stacks"),
            NextStep::ListPins => f.write_str("list the pins"),
            NextStep::RemovePin { path } => write!(f, "remove the pin {path}"),
            NextStep::MovePin { from, to } => write!(f, "move the pin {from} to {to}"),
            NextStep::PrunePins => f.write_str("prune the pinfile"),
            NextStep::RestorePins => f.write_str("restore the pinfile from state"),
            NextStep::Unprotect { name } => write!(f, "unprotect {name}"),
            NextStep::Resolve { name, answer } => match answer {
                ResolveAnswer::Happened(operation) => {
                    write!(f, "record that the {} of {name} happened", operation.verb())
                }
                ResolveAnswer::DidNotHappen => {
                    write!(f, "record that the operation on {name} did not happen")
                }
                ResolveAnswer::Retry => write!(f, "send the operation on {name} again"),
            },
            NextStep::StateOutputs { names } => write!(f, "state the values of {}", names.join(", ")),
            NextStep::SelectDependencies => f.write_str("select the dependencies too"),
            NextStep::SelectDependents => f.write_str("select the dependents too"),
            NextStep::RefreshStack { environment, target } => {
                write!(f, "refresh the stack of environment {environment} on target {target}")
            }
            NextStep::ApplyStack { environment, target } => {
                write!(f, "apply the program to environment {environment} on target {target}")
            }
            NextStep::CreateStack => f.write_str("create an empty stack"),
            NextStep::WithoutProgram => f.write_str("go without the program"),
            NextStep::ShowHistory => f.write_str("list the runs of the stack"),
            NextStep::RenameFrom { from } => write!(f, "rename {from}"),
            NextStep::MoveToStack => f.write_str("move it to the other stack"),
            NextStep::Destroy { environment } => write!(f, "destroy environment {environment}"),
            NextStep::StartProject => f.write_str("start a project, or choose the folder of one"),
            NextStep::Explain { code } => write!(f, "read about {code}"),
            NextStep::ExportStack => f.write_str("export the stack"),
            NextStep::AddKeyManager => f.write_str("add a key manager"),
            NextStep::RemoveKeyManager => f.write_str("remove the key manager"),
            NextStep::ChangeKeyManager => f.write_str("change the key manager"),
            NextStep::NameRecipient => f.write_str("give the recipient another name"),
            NextStep::SetSecretConfig => f.write_str("set the config value as a secret"),
            NextStep::RemoveConfig => f.write_str("remove the config value"),
            NextStep::ExplainConfig => f.write_str("show where config values are set"),
            NextStep::ListChildren { ty, keys } => {
                write!(f, "list {ty} with the {} of its parent", keys.join(" and "))
            }
            NextStep::InitSecrets => f.write_str("make a key for the secrets of the stack"),
            NextStep::SavePlan { file } => write!(f, "save the plan as {file}"),
            NextStep::ApplySavedPlan => f.write_str("apply a file that a plan was saved to"),
            NextStep::TakeOver { name } => write!(f, "take {name} over"),
            NextStep::SelectResources => f.write_str("select them by their names"),
            NextStep::CreateEnvironment { name } => write!(f, "add the environment {name} to the project"),
            NextStep::SelectEnvironment { environment } => write!(f, "use the environment {environment}"),
            NextStep::ForgetResources => f.write_str("forget the resources"),
            NextStep::AcceptOtherStack => f.write_str("accept the state of another stack"),
            NextStep::AcceptLosses => f.write_str("accept the losses"),
            NextStep::AcceptPlace => f.write_str("accept the place"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Step(NextStep),
}

/// Advice to a person: text with operations in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    pieces: Vec<Piece>,
}

impl Hint {
    pub fn text(text: impl Into<String>) -> Hint {
        Hint { pieces: vec![Piece::Text(text.into())] }
    }

    /// Appends an operation.
    #[must_use]
    pub fn then(mut self, step: NextStep) -> Hint {
        self.pieces.push(Piece::Step(step));
        self
    }

    /// Appends text.
    #[must_use]
    pub fn and(mut self, text: impl Into<String>) -> Hint {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    /// The operations that this hint proposes, in order.
    pub fn steps(&self) -> impl Iterator<Item = &NextStep> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Step(step) => Some(step),
            Piece::Text(_) => None,
        })
    }

    /// Returns the hint as text, with each operation as the front end writes it.
    pub fn phrased(&self, phrase: &dyn Fn(&NextStep) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Step(step) => phrase(step),
        };
        self.pieces.iter().map(piece).collect()
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.phrased(&|step| step.to_string()))
    }
}

impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint::text(text)
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Hint {
        Hint::text(text)
    }
}

impl From<&String> for Hint {
    fn from(text: &String) -> Hint {
        Hint::text(text)
    }
}

impl From<NextStep> for Hint {
    fn from(step: NextStep) -> Hint {
        Hint { pieces: vec![Piece::Step(step)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_end_phrases_the_operations_and_keeps_the_text() {
        let hint = Hint::text("unpin it, ").then(NextStep::Apply).and(", then try again");
        assert_eq!(hint.to_string(), "unpin it, apply the program, then try again");
        assert_eq!(hint.phrased(&|_| "`run it`".to_owned()), "unpin it, `run it`, then try again");
        assert_eq!(hint.steps().collect::<Vec<_>>(), [&NextStep::Apply]);
    }
}
