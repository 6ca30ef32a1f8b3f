//! The tools that apply the graph: stead on the embedded cloud, in process and served, and Terraform on two providers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::moto::Moto;
use super::program::{self, Edit, Stage};
use super::served::Served;
use crate::bench::stead::Stead;
use crate::bench::terraform::Terraform;
use crate::bench::{driver, process, renew};

/// A tool with its project.
pub(super) trait Side {
    fn name(&self) -> String;

    /// Writes the program.
    fn write(&self, edit: Edit) -> Result<(), String>;

    fn command(&self, stage: Stage) -> Command;
}

/// Stead, in process or with a served cloud.
pub(super) struct SteadSide<'a> {
    pub(super) stead: &'a Stead,
    pub(super) folder: PathBuf,
    pub(super) served: Option<&'a Served>,
    pub(super) resources: usize,
}

impl<'a> SteadSide<'a> {
    pub(super) fn new(
        stead: &'a Stead,
        folder: &Path,
        served: Option<&'a Served>,
        resources: usize,
    ) -> Result<SteadSide<'a>, String> {
        renew(folder)?;
        let target = if served.is_some() { "aws" } else { "sim" };
        let settings = format!("project = \"bench\"\nmain = \"main.ts\"\ntarget = \"{target}\"\n");
        driver::write(folder, "stead.toml", &settings)?;
        Ok(SteadSide { stead, folder: folder.to_owned(), served, resources })
    }
}

impl Side for SteadSide<'_> {
    fn name(&self) -> String {
        if self.served.is_some() { "stead, `aws`, served cloud" } else { "stead, `sim`" }.to_owned()
    }

    fn write(&self, edit: Edit) -> Result<(), String> {
        driver::write(&self.folder, "main.ts", &program::stead(self.resources, edit))
    }

    fn command(&self, stage: Stage) -> Command {
        let words: &[&str] = match stage {
            Stage::Up | Stage::Update => &["up", "--yes"],
            Stage::Plan => &["plan", "--exit-code"],
            Stage::PlanWithRefresh => &["plan", "--refresh", "--exit-code"],
            Stage::Destroy => &["destroy", "--yes"],
        };
        let mut command = Command::new(&self.stead.binary);
        command.arg("-C").arg(&self.folder).args(words);
        if let Some(served) = self.served {
            served.reached_by(&mut command);
        }
        command
    }
}

/// Terraform with `terraform_data`, or with the AWS provider on moto.
pub(super) struct TerraformSide<'a> {
    pub(super) terraform: &'a Terraform,
    pub(super) folder: PathBuf,
    pub(super) aws: Option<(&'a AwsProvider, &'a Moto)>,
}

impl<'a> TerraformSide<'a> {
    pub(super) fn new(
        terraform: &'a Terraform,
        folder: &Path,
        aws: Option<(&'a AwsProvider, &'a Moto)>,
    ) -> Result<TerraformSide<'a>, String> {
        renew(folder)?;
        let side = TerraformSide { terraform, folder: folder.to_owned(), aws };
        side.write(Edit::First)?;
        let mut init = side.terraform.inside(folder, &["init", "-input=false", "-no-color"]);
        if let Some((provider, _)) = aws {
            init.arg(format!("-plugin-dir={}", provider.mirror.display()));
        }
        process::run(&mut init)?;
        Ok(side)
    }
}

impl Side for TerraformSide<'_> {
    fn name(&self) -> String {
        match self.aws {
            None => "terraform, `terraform_data`".to_owned(),
            Some((provider, _)) => format!("terraform, AWS provider {}, moto", provider.version),
        }
    }

    fn write(&self, edit: Edit) -> Result<(), String> {
        let text = match self.aws {
            None => program::terraform_data(edit),
            Some((provider, moto)) => program::terraform_aws(edit, &provider.version, &moto.url),
        };
        driver::write(&self.folder, "main.tf", &text)
    }

    /// Applies without a refresh, like stead.
    fn command(&self, stage: Stage) -> Command {
        let words: &[&str] = match stage {
            Stage::Up | Stage::Update => &["apply", "-auto-approve", "-refresh=false"],
            Stage::Plan => &["plan", "-detailed-exitcode", "-refresh=false"],
            Stage::PlanWithRefresh => &["plan", "-detailed-exitcode"],
            Stage::Destroy => &["destroy", "-auto-approve", "-refresh=false"],
        };
        let mut command = self.terraform.inside(&self.folder, words);
        command.args(["-input=false", "-no-color"]);
        command
    }
}

/// The AWS provider of Terraform in a mirror on this machine.
pub(super) struct AwsProvider {
    mirror: PathBuf,
    version: String,
}

impl AwsProvider {
    /// Looks into the folders of `TF_PLUGIN_CACHE_DIR`, of Terraform's own mirrors, and `/opt/tf-plugins`.
    pub(super) fn find() -> Option<AwsProvider> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let cache = std::env::var_os("TF_PLUGIN_CACHE_DIR").map(PathBuf::from);
        let shared =
            ["/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins", "/opt/tf-plugins"];
        let mirrors = cache.into_iter().chain([home.join(".terraform.d/plugins")]);
        mirrors.chain(shared.map(PathBuf::from)).find_map(AwsProvider::in_mirror)
    }

    fn in_mirror(mirror: PathBuf) -> Option<AwsProvider> {
        // A mirror has a folder for each host, and the provider's name is the same for all of them.
        let hosts = std::fs::read_dir(&mirror).ok()?.flatten();
        let versions = hosts.filter_map(|host| std::fs::read_dir(host.path().join("hashicorp/aws")).ok());
        let version =
            versions.flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        Some(AwsProvider {
            version: version.filter(|name| name.starts_with(char::is_numeric)).max()?,
            mirror,
        })
    }
}
