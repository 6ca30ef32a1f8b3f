//! `stead admission manifests`: prints the manifests of the admission webhook.

use stead_model::{Code, Diagnostic};
use stead_server::admission::{Groups, PreventDelete};
use stead_server::{Manifests, Part};

use crate::args::{Common, GuardFlags, ManifestArguments, ManifestPart};
use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring;

pub(crate) fn manifests(common: &Common, arguments: &ManifestArguments, ui: &Ui) -> Result<u8, Failure> {
    let ca_bundle = match &arguments.ca_bundle {
        None => None,
        Some(file) => {
            let path = common.directory.clone().unwrap_or_default().join(file);
            let read = wiring::world().files.read(&path);
            Some(read.map_err(|error| {
                let message = format!("cannot read {}: {error}", path.display());
                Failure::new(Kind::Usage, Diagnostic::error(Code::BAD_CERTIFICATE, message))
            })?)
        }
    };
    let wanted = Manifests {
        part: match arguments.only {
            None => Part::All,
            Some(ManifestPart::Webhook) => Part::Webhook,
            Some(ManifestPart::Policy) => Part::Policy,
        },
        namespace: arguments.install_namespace.clone(),
        image: arguments.image.clone(),
        ca_bundle,
        groups: Groups::with(arguments.guard.group.clone()),
        prevent_delete: arguments.guard.prevent_delete(),
    };
    let printed = stead_server::manifests(&wanted).map_err(|error| {
        let problem = Diagnostic::error(Code::USAGE, error.to_string());
        Failure::new(Kind::Usage, problem.help("see `stead admission manifests --help`"))
    })?;
    ui.raw(&printed);
    Ok(0)
}

impl GuardFlags {
    pub(crate) fn prevent_delete(&self) -> PreventDelete {
        if self.prevent_delete { PreventDelete::Always } else { PreventDelete::AsMarked }
    }
}
