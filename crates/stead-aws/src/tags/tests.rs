//! Tests of marks, default tags and the tags of AWS.

use stead_model::ExprId;
use stead_schema::cfn::bundle;

use super::*;

fn map(json: &str) -> Map {
    serde_json::from_str(json).unwrap()
}

fn property(name: &str) -> Option<TagProperty> {
    TagProperty::of(&bundle::shipped().schema(name).unwrap())
}

fn owner() -> OwnerMark {
    OwnerMark {
        stack: StackId("4b7c".into()),
        uid: Uid("u-1".into()),
        name: "dev:main:aws.s3.Bucket#a".parse().unwrap(),
        place: StatePlace {
            store: "/home/a b/.stead (1)".into(),
            project: "shop".into(),
            environment: "dev:blue".into(),
            target: "aws".into(),
        },
    }
}

#[test]
fn mark_is_written_read_and_stripped_in_both_styles() {
    for (name, before) in [
        ("AWS::S3::Bucket", r#"{"Tags":[{"Key":"team","Value":"a"}]}"#),
        ("AWS::SSM::Parameter", r#"{"Tags":{"team":"a"}}"#),
        ("AWS::S3::Bucket", "{}"),
    ] {
        let property = property(name).unwrap();
        let mut model = map(before);
        property.add_mark(&mut model, &owner());
        assert_eq!(property.mark(&model), Some(owner()), "{name}");
        assert_eq!(property.uid(&model), Some(Uid("u-1".into())));
        let once = model.clone();
        property.add_mark(&mut model, &owner());
        assert_eq!(model, once);
        property.strip(&mut model);
        assert_eq!(model, map(before), "{name}");
    }
}

#[test]
fn tag_that_needs_a_flag_gets_it_off() {
    let property = property("AWS::AutoScaling::AutoScalingGroup").unwrap();
    let mut model = Map::new();
    property.add_mark(&mut model, &owner());
    assert_eq!(property.mark(&model), Some(owner()));
    let tags = model.get("Tags").and_then(Value::as_list).unwrap();
    let off =
        |tag: &Value| tag.as_map().and_then(|tag| tag.get("PropagateAtLaunch")) == Some(&Value::Bool(false));
    assert!(tags.iter().all(off), "{model:?}");
}

#[test]
fn type_whose_tags_cannot_have_the_keys_of_a_mark_gets_none() {
    let told = |name: &str| property(name).map(|property| (property.on_create, property.on_update));
    assert_eq!(told("AWS::S3::Bucket"), Some((true, true)));
    for name in ["AWS::SSMContacts::Contact", "AWS::SSMContacts::Rotation", "AWS::SSO::Application"] {
        assert_eq!(told(name), Some((false, false)), "{name}");
    }
}

#[test]
fn values_of_a_mark_have_only_characters_that_services_accept() {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+-=._:/@ ".contains(c);
    for value in tags_of(&owner()).values() {
        assert!(value.chars().all(allowed) && value.len() <= MAX_VALUE, "{value}");
    }
    assert_eq!(unescaped(&escaped("a#b/ü%=")).as_deref(), Some("a#b/ü%="));
}

#[test]
fn mark_of_a_long_place_or_name_is_written_and_names_that_place_alone() {
    let property = property("AWS::S3::Bucket").unwrap();
    let long = |part: &str, length: usize| format!("/{}/end of {part}", "é/".repeat(length));
    let mut owners = [owner(), owner(), owner()];
    owners[0].place.store = long("the store", 150);
    owners[1].name = format!("dev:main:aws.s3.Bucket#{}", "ü".repeat(200)).parse().unwrap();
    let every = |part: &str| long(part, 90);
    owners[2].place = StatePlace {
        store: every("store"),
        project: every("project"),
        environment: every("environment"),
        target: every("target"),
    };
    owners[2].stack = StackId(every("stack"));
    for owner in &owners {
        let mut model = Map::new();
        property.add_mark(&mut model, owner);
        assert!(tags_of(owner).values().all(|value| value.len() <= MAX_VALUE), "{:?}", tags_of(owner));
        let mark = property.mark(&model).unwrap();
        assert_eq!((&mark.uid, mark.place.resolved(&owner.place)), (&owner.uid, owner.place.clone()));
        let mut again = Map::new();
        property.add_mark(&mut again, &mark);
        assert_eq!(again, model, "a mark that was read is written as it was");
    }
    let mark = mark_in(&tags_of(&owners[0])).unwrap();
    assert!(mark.place.is_digest() && mark.place.store.ends_with("é/é//end of the store"), "{mark:?}");
    let other = StatePlace { store: format!("/x{}", owners[0].place.store), ..owners[0].place.clone() };
    assert!(mark.place.resolved(&other).is_digest());
    let mark = mark_in(&tags_of(&owners[1])).unwrap();
    assert!(mark.name.to_string().starts_with("dev#...") && mark.name.to_string().ends_with("üü"));
}

#[test]
fn mark_without_a_name_counts() {
    let mut tags = tags_of(&owner());
    tags.remove(NAME);
    assert_eq!(mark_in(&tags).map(|mark| (mark.uid, mark.place)), Some((owner().uid, owner().place)));
}

#[test]
fn tags_of_aws_are_stripped_and_empty_property_stays_empty() {
    let property = property("AWS::S3::Bucket").unwrap();
    let mut model = map(r#"{"Tags":[{"Key":"aws:x","Value":"1"},{"Key":"a","Value":"2"}]}"#);
    property.strip(&mut model);
    assert_eq!(model, map(r#"{"Tags":[{"Key":"a","Value":"2"}]}"#));
    let mut empty = map(r#"{"Tags":[]}"#);
    property.strip(&mut empty);
    assert_eq!(empty, map(r#"{"Tags":[]}"#));
}

#[test]
fn default_tags_are_added_and_declared_ones_are_stronger() {
    let property = property("AWS::S3::Bucket").unwrap();
    let defaults = BTreeMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
    let with = |tags: Option<Input>| {
        let mut inputs = Inputs::new();
        inputs.extend(tags.map(|tags| ("Tags".to_owned(), tags)));
        property.add_defaults(&mut inputs, &defaults);
        inputs
    };
    let known = |json: &str| Input::Known(serde_json::from_str(json).unwrap());
    let both = known(r#"[{"Key":"a","Value":"1"},{"Key":"b","Value":"2"}]"#);
    assert_eq!(with(None).get("Tags"), Some(&both));
    let own = known(r#"[{"Key":"a","Value":"own"},{"Key":"b","Value":"2"}]"#);
    assert_eq!(with(Some(known(r#"[{"Key":"a","Value":"own"}]"#))).get("Tags"), Some(&own));
}

#[test]
fn default_tags_wait_for_the_keys_of_declared_ones_and_not_for_their_values() {
    let defaults = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let added = |name: &str, tags: Input| {
        let mut inputs: Inputs = [("Tags".to_owned(), tags)].into_iter().collect();
        property(name).unwrap().add_defaults(&mut inputs, &defaults);
        inputs.remove("Tags").unwrap()
    };
    let (deferred, known) = (Input::Deferred(ExprId(1)), |text: &str| Input::Known(Value::from(text)));
    let object = |members: [(&str, Input); 2]| {
        Input::map(members.into_iter().map(|(name, input)| (name.to_owned(), input)).collect())
    };
    let tag = |key: Input| Input::list(vec![object([("Key", key), ("Value", deferred.clone())])]);
    for open in [deferred.clone(), tag(deferred.clone()), tag(known("a"))] {
        assert_eq!(added("AWS::S3::Bucket", open.clone()), open);
    }
    let Input::List(all) = added("AWS::S3::Bucket", tag(known("b"))) else { panic!() };
    assert_eq!(all[1..], [object([("Key", known("a")), ("Value", known("1"))])]);
    let declared = object([("b", deferred.clone()), ("c", known("3"))]);
    let Input::Map(all) = added("AWS::SSM::Parameter", declared) else { panic!() };
    assert_eq!(all.get("a"), Some(&known("1")));
}

#[test]
fn most_types_have_a_tag_property_that_is_understood() {
    let (mut understood, mut taggable) = (0, 0);
    for name in bundle::shipped().names() {
        let schema = bundle::shipped().schema(name).unwrap();
        taggable += usize::from(schema.tagging.property.is_some());
        understood += usize::from(TagProperty::of(&schema).is_some());
    }
    assert!(understood * 20 > taggable * 19, "{understood} of {taggable}");
}
