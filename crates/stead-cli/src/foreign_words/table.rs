//! The words of Terraform and Pulumi that stead understands or answers, as data.

/// Tool that a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Terraform,
    Pulumi,
    Both,
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Terraform => "Terraform",
            Tool::Pulumi => "Pulumi",
            Tool::Both => "Terraform and Pulumi",
        }
    }
}

/// Meaning of a word in stead.
pub(super) enum Meaning {
    /// These words of stead mean the same.
    Same(&'static str),
    /// Stead has no equal: the difference, and the commands to type. `NAME` stands for a given name.
    Instead { why: &'static str, commands: &'static [&'static str] },
    /// The help of the command that follows.
    Help,
}

/// One word of another tool.
pub(super) struct Word {
    pub tool: Tool,
    /// The words of a command, or a flag without its dashes.
    pub written: &'static str,
    /// A line that a person may type after `stead`.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests type every example"))]
    pub example: &'static str,
    pub meaning: Meaning,
}

const fn same(tool: Tool, written: &'static str, example: &'static str, ours: &'static str) -> Word {
    Word { tool, written, example, meaning: Meaning::Same(ours) }
}

const fn instead(
    tool: Tool,
    written: &'static str,
    example: &'static str,
    why: &'static str,
    commands: &'static [&'static str],
) -> Word {
    Word { tool, written, example, meaning: Meaning::Instead { why, commands } }
}

use Tool::{Both, Pulumi, Terraform};

/// Why no environment can be selected for later commands.
const SELECTED: &str = "No environment stays selected: each command names its environment with `-e`. The key \
                        `environment` in stead.toml sets the default.";

/// Commands, by their words.
pub(super) const COMMANDS: &[Word] = &[
    Word { tool: Both, written: "help", example: "help apply", meaning: Meaning::Help },
    same(Both, "version", "version", "--version"),
    same(Terraform, "apply", "apply plan.out", "up"),
    same(Pulumi, "update", "update", "up"),
    same(Pulumi, "preview", "preview", "plan"),
    same(Pulumi, "pre", "pre", "plan"),
    same(Terraform, "state list", "state list", "state ls"),
    same(Pulumi, "state delete", "state delete web", "state rm"),
    same(Pulumi, "state rename", "state rename web site", "rename"),
    same(Pulumi, "stack output", "stack output url", "output"),
    same(Pulumi, "stack graph", "stack graph", "graph"),
    same(Pulumi, "history", "history", "stack history"),
    same(Terraform, "workspace list", "workspace list", "env ls"),
    same(Terraform, "workspace new", "workspace new qa", "env new"),
    same(Terraform, "workspace delete", "workspace delete qa", "env rm"),
    instead(
        Both,
        "show",
        "show",
        "`stead state ls` lists the recorded resources; `state show` shows one in full.",
        &["stead state ls", "stead state show NAME"],
    ),
    instead(Terraform, "workspace", "workspace show", SELECTED, &["stead env ls", "stead plan -e NAME"]),
    instead(Terraform, "workspace select", "workspace select qa", SELECTED, &["stead plan -e NAME"]),
    instead(Pulumi, "stack select", "stack select qa", SELECTED, &["stead plan -e NAME"]),
    instead(Pulumi, "stack unselect", "stack unselect", SELECTED, &["stead plan -e NAME"]),
    instead(
        Pulumi,
        "stack init",
        "stack init qa",
        "An environment is made once; its stack appears with the first `up`.",
        &["stead env new NAME"],
    ),
    instead(
        Terraform,
        "taint",
        "taint web",
        "No mark is recorded: the run that replaces a resource is told to.",
        &["stead up --replace NAME"],
    ),
    instead(
        Terraform,
        "untaint",
        "untaint web",
        "A resource is replaced only by a run that is told to with `--replace`; there is no mark to remove.",
        &["stead plan"],
    ),
    instead(
        Terraform,
        "fmt",
        "fmt",
        "A program is TypeScript: any formatter for TypeScript formats it.",
        &["npx prettier --write ."],
    ),
    instead(
        Terraform,
        "validate",
        "validate",
        "`stead check` checks the types of a program; `stead compile` evaluates it and applies the pinfile, without state.",
        &["stead check", "stead compile"],
    ),
    instead(
        Terraform,
        "console",
        "console",
        "There is no prompt for expressions. `stead graph` shows what the program declares.",
        &["stead graph"],
    ),
    instead(
        Terraform,
        "query",
        "query",
        "`stead import --list` lists the resources of a type that exist; `--all` imports them and writes their \
         TypeScript.",
        &["stead import --list TYPE", "stead import --all"],
    ),
    instead(
        Terraform,
        "get",
        "get",
        "A program imports its modules and packages; nothing is fetched before.",
        &["stead plan"],
    ),
    instead(
        Terraform,
        "providers",
        "providers",
        "The providers are built in; `stead provider types` lists their types.",
        &["stead provider types"],
    ),
    instead(
        Terraform,
        "force-unlock",
        "force-unlock 5d2c",
        "The lock has no id. A run without its lock cannot write, so that taking it is safe.",
        &["stead unlock"],
    ),
    instead(
        Pulumi,
        "cancel",
        "cancel",
        "`stead unlock` takes the lock; the run that held it can no longer write. Operations under way are not stopped.",
        &["stead unlock"],
    ),
    instead(
        Terraform,
        "state pull",
        "state pull",
        "State is exported in stead's own format.",
        &["stead stack export"],
    ),
    instead(
        Terraform,
        "state push",
        "state push terraform.tfstate",
        "`stack import` takes a file of `stack export`; state of Terraform cannot be read.",
        &["stead stack import NAME"],
    ),
    instead(
        Terraform,
        "state replace-provider",
        "state replace-provider a b",
        "The type of a resource names its provider, and does not change.",
        &["stead state ls"],
    ),
    instead(
        Pulumi,
        "new",
        "new aws-typescript",
        "There are no templates: `stead init` writes a small project here.",
        &["stead init"],
    ),
    instead(
        Pulumi,
        "about",
        "about",
        "`stead --version` prints the version, `stead stack ls` lists the stacks.",
        &["stead --version", "stead stack ls"],
    ),
    instead(
        Pulumi,
        "state upgrade",
        "state upgrade",
        "State is brought to the current format by the next run that writes.",
        &["stead state verify"],
    ),
];

/// Flags without their dashes, with one dash or two. A flag of stead is never taken for one of these.
pub(super) const FLAGS: &[Word] = &[
    same(Terraform, "help", "plan -help", "--help"),
    same(Terraform, "version", "-version", "--version"),
    same(Terraform, "target", "plan -target=web", "--target-resource"),
    same(Terraform, "var", "plan -var region=eu", "--config"),
    same(Terraform, "auto-approve", "apply -auto-approve", "--yes"),
    same(Terraform, "chdir", "-chdir=infra plan", "-C"),
    same(Terraform, "json", "output -json", "--json"),
    same(Terraform, "raw", "output -raw url", "--raw"),
    same(Terraform, "out", "plan -out=plan.out", "--out"),
    same(Terraform, "destroy", "plan -destroy", "--destroy"),
    same(Terraform, "replace", "apply -replace=web", "--replace"),
    same(Terraform, "parallelism", "apply -parallelism=4", "--parallel"),
    same(Terraform, "refresh=true", "plan -refresh=true", "--refresh"),
    same(Pulumi, "cwd", "up --cwd infra", "-C"),
    same(Pulumi, "target-dependents", "up --target-resource web --target-dependents", "--with-dependents"),
    instead(
        Terraform,
        "type",
        "graph -type=plan",
        "`stead graph` shows the graph of the program, and `stead plan` the steps.",
        &["stead graph", "stead plan"],
    ),
    instead(
        Terraform,
        "refresh=false",
        "plan -refresh=false",
        "`plan` and `up` read the resources only with `--refresh`.",
        &["stead plan"],
    ),
    instead(
        Terraform,
        "refresh-only",
        "apply -refresh-only",
        "`stead refresh` reads every resource, shows the drift, asks, and records it.",
        &["stead refresh"],
    ),
    instead(
        Terraform,
        "var-file",
        "plan -var-file=prod.tfvars",
        "`--config-file FILE` reads values of a program from a TOML or JSON file; files of Terraform are neither. \
         `[config]` in stead.toml has the values of every command.",
        &["stead plan --config-file FILE"],
    ),
    instead(
        Terraform,
        "upgrade",
        "init -upgrade",
        "The providers are built in, and `init` only writes a new project: there is nothing to upgrade.",
        &["stead --version"],
    ),
    instead(
        Terraform,
        "reconfigure",
        "init -reconfigure",
        "`[state]` in stead.toml says where state is; no command has to follow a change of it.",
        &["stead plan"],
    ),
    instead(
        Terraform,
        "migrate-state",
        "init -migrate-state",
        "State moves with `stack export` before a change of `[state]` in stead.toml, and `stack import` after it.",
        &["stead stack export"],
    ),
    instead(
        Terraform,
        "backend-config",
        "init -backend-config=bucket=b",
        "`[state]` in stead.toml says where state is.",
        &["stead explain ST0602"],
    ),
    instead(
        Terraform,
        "detailed-exitcode",
        "plan -detailed-exitcode",
        "The codes differ: `--exit-code` exits 0 without changes, 10 with changes, 11 with deletions, 12 with drift only.",
        &["stead plan --exit-code"],
    ),
    instead(
        Pulumi,
        "expect-no-changes",
        "preview --expect-no-changes",
        "`--exit-code` exits 0 only if there is nothing to change.",
        &["stead plan --exit-code"],
    ),
    instead(
        Terraform,
        "input",
        "apply -input=false",
        "A question is asked only at a terminal; elsewhere `up` needs `--yes`.",
        &["stead up --yes"],
    ),
    instead(
        Terraform,
        "no-color",
        "plan -no-color",
        "The variable NO_COLOR turns colours off; a pipe gets none.",
        &["NO_COLOR=1 stead plan"],
    ),
    instead(
        Terraform,
        "lock",
        "plan -lock=false",
        "`plan` takes no lock, and no run changes a stack without one.",
        &["stead plan"],
    ),
    instead(
        Terraform,
        "lock-timeout",
        "apply -lock-timeout=60s",
        "`--wait` waits until the lock is free.",
        &["stead up --wait"],
    ),
    instead(
        Terraform,
        "state",
        "plan -state=a.tfstate",
        "`[state]` in stead.toml says where state is.",
        &["stead explain ST0602"],
    ),
    instead(
        Terraform,
        "allow-missing",
        "plan -allow-missing",
        "A name that no resource has is an error.",
        &["stead state ls"],
    ),
    instead(
        Pulumi,
        "stack",
        "up --stack prod",
        "A stack is an environment on a target: `-e` names the environment, `-t` the target.",
        &["stead up -e NAME"],
    ),
    instead(
        Pulumi,
        "skip-preview",
        "up --skip-preview",
        "Every run makes its plan and asks the guards. `--yes` leaves out the question.",
        &["stead up --yes"],
    ),
    instead(
        Pulumi,
        "target-replace",
        "up --target-replace web",
        "`--replace` replaces a resource, `--target-resource` selects it.",
        &["stead up --replace NAME --target-resource NAME"],
    ),
    instead(Pulumi, "diff", "preview --diff", "A plan shows the changes of every property.", &["stead plan"]),
];
