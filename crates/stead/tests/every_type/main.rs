//! Every published type from end to end: program, plan, guards, executor, provider, HTTP and the embedded cloud.
//!
//! A program in TypeScript declares a resource of the type with all properties that the generator of the proof in
//! `stead-cloud` fills, and the resources that it refers to. The cloud checks references. `docs/aws-coverage.md` has the results.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the test compares a page of the documentation"
)]

mod bench;
#[path = "../../../stead-cloud/tests/proof/best_patch.rs"]
mod best_patch;
mod census;
mod changes;
mod imports;
#[allow(dead_code, reason = "the proof uses more of it")]
#[path = "../../../stead-cloud/tests/proof/leaves.rs"]
mod leaves;
mod life;
mod look;
mod network;
mod page;
mod program;
mod subject;

use stead_model::TypeToken;

use census::{census, lived, manageable};
use life::Shortfall;
use subject::Size;

#[test]
fn every_type_goes_the_whole_way() {
    let failed = census().failures();
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
    assert!(census().lives.len() > 1_700);
}

#[test]
fn coverage_page_has_the_results_from_end_to_end() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/aws-coverage.md");
    let kept = std::fs::read_to_string(&path).unwrap();
    let (proof, section) = kept.split_at(kept.find(page::HEADING).unwrap_or(kept.len()));
    let results = page::section(census());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{}\n\n{results}", proof.trim_end())).unwrap();
    } else {
        assert!(
            section == results,
            "docs/aws-coverage.md is out of date: UPDATE=1 cargo test -p stead --test every_type"
        );
    }
}

/// Distance of the types that also go over a port, which is a fiftieth of all.
const EVERY: usize = 50;

#[test]
fn types_go_the_whole_way_over_a_port() {
    for ty in manageable().iter().step_by(EVERY) {
        for (stage, ended) in network::lived(ty, Size::Some).unwrap() {
            if let Err(Shortfall::Failed(why)) = ended {
                panic!("{ty}, {}: {why}", stage.title());
            }
        }
    }
}

/// Types with special needs: a flag in each tag, a tag key that marks cannot have, a required property that no
/// read returns, secrets in lists, a list whose elements the service completes, and references to several resources.
const SPECIAL: [&str; 8] = [
    "aws.autoscaling.AutoScalingGroup",
    "aws.cassandra.Table",
    "aws.ec2.SubnetRouteTableAssociation",
    "aws.elasticloadbalancingv2.Listener",
    "aws.lambda.LayerVersion",
    "aws.lambda.MicrovmImage",
    "aws.sagemaker.Cluster",
    "aws.ssmcontacts.Contact",
];

#[test]
fn special_types_go_the_whole_way_with_inputs_of_each_size() {
    for size in [Size::Required, Size::Some] {
        for ty in SPECIAL {
            for (stage, ended) in lived(&TypeToken(ty.to_owned()), size).unwrap() {
                if let Err(Shortfall::Failed(why)) = ended {
                    panic!("{ty}, {size:?}, {}: {why}", stage.title());
                }
            }
        }
    }
}
