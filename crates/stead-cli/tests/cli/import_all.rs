//! `stead import --all`: everything that exists becomes a part of the program and of the stack.

use stead_cloud::{Cloud, DEFAULT_ACCOUNT, Place, Settings};
use stead_model::Map;
use stead_world::World;

use crate::project::Project;

fn insert(project: &Project, type_name: &str, properties: &str) -> String {
    let cloud = Cloud::open(&World::real(), &project.path(".stead/sim"), Settings::default()).unwrap();
    let properties: Map = serde_json::from_str(properties).unwrap();
    let place = Place::new(DEFAULT_ACCOUNT, "us-east-1");
    cloud.insert(&place, type_name, &properties).unwrap().identifier
}

/// Returns a project with resources that were made by hand.
fn account() -> Project {
    let project = Project::only("export const stage = \"dev\";\n");
    insert(
        &project,
        "AWS::S3::Bucket",
        r#"{"BucketName":"uploads.shop","Tags":[{"Key":"team","Value":"web"}]}"#,
    );
    let policy = r#"{"Bucket":"uploads.shop","PolicyDocument":{"Statement":[
        {"Effect":"Deny","Action":"s3:*","Resource":"arn:aws:s3:::uploads.shop/*"}]}}"#;
    insert(&project, "AWS::S3::BucketPolicy", policy);
    insert(&project, "AWS::SQS::Queue", r#"{"QueueName":"dead"}"#);
    let redrive = r#"{"QueueName":"jobs","DelaySeconds":5,"RedrivePolicy":{
        "deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":3}}"#;
    insert(&project, "AWS::SQS::Queue", redrive);
    project
}

const TYPES: [&str; 6] = ["AWS::SQS::Queue", "aws.s3.BucketPolicy", "AWS::S3::Bucket", "-t", "sim", "--all"];

fn all<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["import"], &TYPES[..], more].concat()
}

#[test]
fn what_exists_is_imported_and_declared_so_that_the_next_plan_is_empty() {
    let project = account();
    let dry = project.stead(&all(&["--dry-run"])).ends(0);
    assert!(dry.stdout.contains("imported:aws.sqs.Queue#jobs  https://"), "{}", dry.stdout);
    assert!(!project.has("imported.ts"), "a dry run writes nothing");
    let asked = project.stead(&all(&[])).ends(2);
    assert!(asked.stderr.contains("ST0603") && !project.has("imported.ts"), "{}", asked.stderr);

    project.stead(&all(&["--yes"])).ok();
    insta::assert_snapshot!(project.read("imported.ts"), @r#"
    import * as aws from "stead/aws";

    const dead = new aws.sqs.Queue({
      QueueName: "dead",
    }, { id: "dead" });

    const jobs = new aws.sqs.Queue({
      DelaySeconds: 5,
      QueueName: "jobs",
      RedrivePolicy: {
        deadLetterTargetArn: dead.Arn,
        maxReceiveCount: 3,
      },
    }, { id: "jobs" });

    const uploadsShopBucket = new aws.s3.Bucket({
      BucketName: "uploads.shop",
      Tags: [
        {
          Key: "team",
          Value: "web",
        },
      ],
    }, { id: "uploads-shop" });

    const uploadsShop = new aws.s3.BucketPolicy({
      Bucket: uploadsShopBucket.BucketName,
      PolicyDocument: {
        Statement: [
          {
            Action: "s3:*",
            Effect: "Deny",
            Resource: `${uploadsShopBucket.Arn}/*`,
          },
        ],
      },
    }, { id: "uploads-shop" });
    "#);
    assert_eq!(project.read("main.ts"), "import \"./imported\";\nexport const stage = \"dev\";\n");
    let plan = project.stead(&["plan", "-t", "sim", "--exit-code"]);
    assert_eq!(plan.code, 0, "{}{}", plan.stdout, plan.stderr);
    project.stead(&["plan", "-t", "sim", "--exit-code", "--refresh"]).ok();

    // A second run finds nothing; a new resource is added to the file.
    let files = (project.read("imported.ts"), project.read("main.ts"));
    let again = project.stead(&all(&["--yes"])).ends(0);
    assert!(
        again.stderr.contains("There is nothing to import; 4 of these resources are recorded."),
        "{}",
        again.stderr
    );
    assert_eq!((project.read("imported.ts"), project.read("main.ts")), files);
    insert(&project, "AWS::SQS::Queue", r#"{"QueueName":"uploads-shop"}"#);
    project.stead(&all(&["--yes"])).ok();
    let added = project.read("imported.ts");
    assert!(added.starts_with(files.0.trim_end()), "{added}");
    assert!(added.contains("const uploadsShopQueue = new aws.sqs.Queue({"), "{added}");
    project.stead(&["plan", "-t", "sim", "--exit-code"]).ok();
}

#[test]
fn types_tags_and_owners_limit_an_import_and_types_with_a_parent_are_reported() {
    let project = account();
    let tagged = project.stead(&all(&["--dry-run", "--tag", "team=web"])).ends(0);
    assert!(tagged.stdout.contains("uploads-shop") && !tagged.stdout.contains("jobs"), "{}", tagged.stdout);
    let none = project.stead(&all(&["--dry-run", "--tag", "team=other"])).ends(0);
    assert!(none.stderr.contains("There is nothing to import"), "{}", none.stderr);
    let parent = project
        .stead(&["import", "--all", "AWS::ApplicationAutoScaling::ScalingPolicy", "-t", "sim"])
        .ends(0);
    assert!(
        parent.stderr.contains("aws.applicationautoscaling.ScalingPolicy cannot be listed"),
        "{}",
        parent.stderr
    );
    let unknown = project.stead(&["import", "--all", "AWS::S3::Buket", "-t", "sim"]).ends(2);
    assert!(
        unknown.stderr.contains("no provider of this target serves AWS::S3::Buket"),
        "{}",
        unknown.stderr
    );

    // Another stack owns a queue.
    project.write(
        "main.ts",
        "import { sqs } from \"stead/aws\";\nnew sqs.Queue({ QueueName: \"theirs\" }, { id: \"q\" });\n",
    );
    project.stead(&["up", "--yes", "-t", "sim", "-e", "prod"]).ok();
    project.write("main.ts", "export {};\n");
    let refused = project.stead(&all(&["--yes"])).ends(13);
    assert!(refused.stderr.contains("ST0430") && !project.has("imported.ts"), "{}", refused.stderr);
    assert_eq!(project.read("main.ts"), "export {};\n", "a refused run leaves the entry point as it was");
    project.stead(&all(&["--yes", "--unowned"])).ok();
    project.stead(&["plan", "-t", "sim", "--exit-code"]).ok();
}

#[test]
fn resource_whose_declaration_would_be_incomplete_is_imported_and_kept() {
    let project = Project::only("export {};\n");
    insert(
        &project,
        "AWS::IAM::Role",
        r#"{"RoleName":"f","AssumeRolePolicyDocument":{"Version":"2012-10-17"}}"#,
    );
    let function =
        r#"{"FunctionName":"orders","Role":"arn:aws:iam::000000000000:role/f","Code":{"ZipFile":"canary"}}"#;
    insert(&project, "AWS::Lambda::Function", function);
    let types = ["import", "--all", "AWS::Lambda::Function", "AWS::IAM::Role", "-t", "sim", "--yes"];
    let key = [("STEAD_PASSPHRASE", "correct horse battery staple")];
    let imported = project.stead_with(&key, &types).ends(0);
    assert!(imported.stderr.contains("orders gets no declaration"), "{}", imported.stderr);
    let file = project.read("imported.ts");
    assert!(file.contains("// const orders = new aws.lambda.Function({"), "{file}");
    assert!(!file.contains("canary"), "{file}");
    assert!(file.contains("const f = new aws.iam.Role({") && file.contains("Role: f.Arn,"), "{file}");
    let plan = project.stead_with(&key, &["plan", "-t", "sim", "--exit-code"]).ends(0);
    assert!(
        plan.stderr.contains("aws.lambda.Function#orders was imported and is not declared yet"),
        "{}",
        plan.stderr
    );
}

#[test]
fn flags_of_a_whole_import_need_it() {
    let project = Project::with("export {};\n");
    for arguments in [&["import", "--dry-run", "a", "b", "c"][..], &["import", "a", "b", "c", "d"]] {
        assert_eq!(project.stead(arguments).code, 2, "{arguments:?}");
    }
    let unowned = project.stead(&["import", "--unowned", "local.File", "f", "f"]).ends(2);
    assert!(unowned.stderr.contains("`--unowned` belongs to `--list` and `--all`"), "{}", unowned.stderr);
}

/// Returns a project whose account has two clusters with node groups that were made by hand.
fn clusters() -> Project {
    let project = Project::only("export const stage = \"dev\";\n");
    let role = insert(
        &project,
        "AWS::IAM::Role",
        r#"{"RoleName":"nodes","AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[]}}"#,
    );
    assert_eq!(role, "nodes");
    for (cluster, group) in [("main", "web"), ("spare", "batch")] {
        let role = "arn:aws:iam::000000000000:role/nodes";
        let of_cluster = format!(
            r#"{{"Name":"{cluster}","RoleArn":"{role}","ResourcesVpcConfig":{{"SubnetIds":["subnet-1"]}}}}"#
        );
        insert(&project, "AWS::EKS::Cluster", &of_cluster);
        let of_group = format!(
            r#"{{"ClusterName":"{cluster}","NodegroupName":"{group}","NodeRole":"{role}","Subnets":["subnet-1"]}}"#
        );
        insert(&project, "AWS::EKS::Nodegroup", &of_group);
    }
    project
}

#[test]
fn list_of_children_takes_their_parent_and_says_what_it_lacks() {
    let project = clusters();
    let listed = |more: &[&str]| {
        let command = ["import", "-t", "sim", "--list", "AWS::EKS::Nodegroup"];
        project.stead(&[&command[..], more].concat())
    };
    let lacking = listed(&[]).ends(2);
    assert!(lacking.stderr.contains("ClusterName is needed"), "{}", lacking.stderr);
    assert!(
        lacking.stderr.contains("stead import --list aws.eks.Nodegroup --parent ClusterName=VALUE"),
        "{}",
        lacking.stderr
    );
    let of_main = listed(&["--parent", "ClusterName=main"]).ok();
    assert!(of_main.contains("web") && !of_main.contains("batch"), "{of_main}");
    let wrong = listed(&["--parent", "main"]).ends(2);
    assert!(wrong.stderr.contains("no property with a value"), "{}", wrong.stderr);
}

#[test]
fn children_are_found_within_each_of_their_parents() {
    let project = clusters();
    let dry = ["import", "-t", "sim", "--all", "--dry-run"];
    let of_groups = project.stead(&[&dry[..], &["AWS::EKS::Nodegroup"]].concat()).ends(0);
    let out = &of_groups.stdout;
    assert!(out.contains("web") && out.contains("batch"), "{out}{}", of_groups.stderr);
    assert!(!out.contains("aws.eks.Cluster#"), "the parents are not imported: {out}");
    let everything = project.stead(&dry).ends(0).stdout;
    assert!(everything.contains("aws.eks.Cluster#main") && everything.contains("batch"), "{everything}");
}
