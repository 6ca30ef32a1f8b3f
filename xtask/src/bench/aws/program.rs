//! The same graph for every tool: topics, and parameters whose values contain the ARNs of the topics.

use std::fmt::Write as _;

/// Resources of the graph. Half of them are topics, half are parameters.
pub(super) const RESOURCES: usize = 1_000;

/// Value of every resource, which an update changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    First,
    Changed,
}

impl Edit {
    fn letter(self) -> char {
        match self {
            Edit::First => 'x',
            Edit::Changed => 'y',
        }
    }
}

/// Command that is timed, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Up,
    Plan,
    PlanWithRefresh,
    Update,
    Destroy,
}

impl Stage {
    pub(super) const ALL: [Stage; 5] =
        [Stage::Up, Stage::Plan, Stage::PlanWithRefresh, Stage::Update, Stage::Destroy];

    pub(super) fn label(self) -> &'static str {
        match self {
            Stage::Up => "create",
            Stage::Plan => "plan with nothing to do",
            Stage::PlanWithRefresh => "plan with nothing to do, with refresh",
            Stage::Update => "update",
            Stage::Destroy => "delete",
        }
    }

    pub(super) fn edit(self) -> Edit {
        if self == Stage::Update { Edit::Changed } else { Edit::First }
    }
}

/// Returns the program for stead with this many resources.
pub(super) fn stead(resources: usize, edit: Edit) -> String {
    let (pairs, letter) = (resources / 2, edit.letter());
    format!(
        r#"import {{ sns, ssm }} from "stead/aws";

for (let i = 0; i < {pairs}; i++) {{
  const options = {{ id: `c${{i}}`, pinned: false }};
  const topic = new sns.Topic({{ TopicName: `bench-${{i}}`, DisplayName: "{letter}" }}, options);
  new ssm.Parameter({{ Name: `/bench/${{i}}`, Type: "String", Value: `${{topic.TopicArn}}{letter}` }}, options);
}}
"#
    )
}

/// Returns the configuration with `terraform_data`.
pub(super) fn terraform_data(edit: Edit) -> String {
    let letter = edit.letter();
    let mut text = String::from("# Made by `cargo xtask bench`.\n");
    for i in 0..RESOURCES / 2 {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"t{i}\" {{\n  input = \"{letter}\"\n}}\n\
             resource \"terraform_data\" \"p{i}\" {{\n  input = \"${{terraform_data.t{i}.output}}{letter}\"\n}}"
        );
    }
    text
}

/// Returns the configuration with the AWS provider, whose services are at this URL.
pub(super) fn terraform_aws(edit: Edit, version: &str, url: &str) -> String {
    let letter = edit.letter();
    let mut text = format!(
        r#"# Made by `cargo xtask bench`.
terraform {{
  required_providers {{
    aws = {{
      source  = "hashicorp/aws"
      version = "{version}"
    }}
  }}
}}
provider "aws" {{
  region                      = "eu-west-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints {{
    sns = "{url}"
    ssm = "{url}"
    sts = "{url}"
  }}
}}
"#
    );
    for i in 0..RESOURCES / 2 {
        let _ = writeln!(
            text,
            "resource \"aws_sns_topic\" \"t{i}\" {{\n  name         = \"bench-{i}\"\n  display_name = \"{letter}\"\n}}\n\
             resource \"aws_ssm_parameter\" \"p{i}\" {{\n  name  = \"/bench/{i}\"\n  type  = \"String\"\n  \
             value = \"${{aws_sns_topic.t{i}.arn}}{letter}\"\n}}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_gets_as_many_resources() {
        assert!(stead(RESOURCES, Edit::First).contains("i < 500;"));
        assert_eq!(terraform_data(Edit::First).matches("\nresource ").count(), RESOURCES);
        let aws = terraform_aws(Edit::Changed, "5.0.0", "http://127.0.0.1:1");
        assert_eq!(aws.matches("\nresource ").count(), RESOURCES);
        assert!(aws.contains("value = \"${aws_sns_topic.t499.arn}y\""), "{aws}");
    }
}
