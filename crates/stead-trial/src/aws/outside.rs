//! People and other tools in the same account: their resources, their tags, and their changes of what is not theirs.

use stead_cloud::ResourceName;
use stead_engine::ops::Look;
use stead_model::{Map, Value};

use super::kind::Kind;
use super::program::Keeping;
use super::{CloudLife, Ended};

/// Tag that other tools write.
pub(super) const THEIR_TAG: &str = "team";

impl CloudLife {
    /// One thing that happens outside.
    pub(super) async fn happens_outside(&mut self) -> Result<(), String> {
        match self.rng.below(6) {
            0 | 1 => self.insert_foreign(),
            2 => self.add_foreign_tag(),
            3 => self.remove_one(),
            _ => self.change_one(),
        }
    }

    /// Somebody else creates a resource.
    fn insert_foreign(&mut self) -> Result<(), String> {
        let number = self.processes + 100 * self.foreign.len() as u64;
        let (type_name, properties) = match self.rng.below(4) {
            0 => (
                "AWS::S3::Bucket",
                format!(r#"{{"BucketName":"f{number}","Tags":[{{"Key":"team","Value":"b"}}]}}"#),
            ),
            1 => ("AWS::EC2::VPC", r#"{"CidrBlock":"172.16.0.0/16"}"#.to_owned()),
            2 => ("AWS::SQS::Queue", format!(r#"{{"QueueName":"f{number}"}}"#)),
            _ => ("AWS::SNS::Topic", format!(r#"{{"TopicName":"f{number}"}}"#)),
        };
        let properties: Map = serde_json::from_str(&properties).map_err(|error| error.to_string())?;
        let place = self.place();
        let Ok(name) = self.cloud.insert(&place, type_name, &properties) else { return Ok(()) };
        let model = self.model(&name)?.unwrap_or_default();
        self.trace.push(format!("others create {} {}", name.type_name, name.identifier));
        self.foreign.insert(name, model);
        Ok(())
    }

    /// The program declares a bucket with a name that is taken, and gives it up again.
    pub(super) async fn claim_foreign(&mut self) -> Result<(), String> {
        let buckets = self.foreign.keys().filter(|name| name.type_name == "AWS::S3::Bucket");
        let names: Vec<String> = buckets.map(|name| name.identifier.clone()).collect();
        let Some(name) = self.rng.pick(&names).cloned() else { return Ok(()) };
        self.program.push(&mut self.rng, Kind::Bucket, Vec::new());
        if let Some(declared) = self.program.resources.last_mut() {
            (declared.claims, declared.keeping) = (Some(name.clone()), Keeping::No);
        }
        self.trace.push(format!("the program declares the bucket {name} of others"));
        let faults = self.run_faults();
        let ended = self.up(faults, Look::Recorded).await?;
        self.program.resources.retain(|declared| declared.claims.is_none());
        match ended {
            Ended::Succeeded => Err("a resource of others is not taken for a created one".to_owned()),
            _ => Ok(()),
        }
    }

    /// Returns true if these inputs name a bucket of others.
    pub(super) fn is_claim(&self, inputs: &Map) -> bool {
        let name = inputs.get("BucketName").and_then(Value::as_str);
        self.foreign
            .keys()
            .any(|other| other.type_name == "AWS::S3::Bucket" && Some(&*other.identifier) == name)
    }

    /// Another tool tags a resource of this stack whose program declares no tags.
    fn add_foreign_tag(&mut self) -> Result<(), String> {
        let Some((name, number)) = self.pick_ours()? else { return Ok(()) };
        let Some(kind) = Kind::of(&name.type_name) else { return Ok(()) };
        let is_untagged = self.program.get(number).is_some_and(|declared| !declared.knobs.tagged);
        let Some(tags) = kind.tags().filter(|_| is_untagged && kind != Kind::Gateway) else { return Ok(()) };
        let model = self.model(&name)?.unwrap_or_default();
        let mut all = model.get(tags).and_then(Value::as_list).unwrap_or_default().to_vec();
        if all.iter().any(|tag| tag.as_map().and_then(|tag| tag.get("Key")) == Some(&Value::from(THEIR_TAG)))
        {
            return Ok(());
        }
        let tag: Map = [("Key", THEIR_TAG), ("Value", "b")]
            .map(|(key, value)| (key.to_owned(), Value::from(value)))
            .into_iter()
            .collect();
        all.push(Value::Map(tag));
        let patch = add(tags, &Value::from(all))?;
        self.cloud.drift(&name, &patch).map_err(|error| error.to_string())?;
        self.trace.push(format!("others tag {} {}", name.type_name, name.identifier));
        self.foreign_tags.insert(name, THEIR_TAG.to_owned());
        Ok(())
    }

    /// Somebody removes a resource of this stack.
    fn remove_one(&mut self) -> Result<(), String> {
        let Some((name, number)) = self.pick_ours()? else { return Ok(()) };
        let is_used = self.program.resources.iter().any(|other| other.knobs.refers.contains(&number));
        if is_used && (self.program.is_guarded(number) || !self.rng.one_in(4)) {
            return Ok(());
        }
        self.cloud.remove(&name).map_err(|error| error.to_string())?;
        self.guarded.remove(&name);
        self.foreign_tags.remove(&name);
        self.trace.push(format!("people remove {} {}", name.type_name, name.identifier));
        Ok(())
    }

    /// Somebody changes a declared value.
    fn change_one(&mut self) -> Result<(), String> {
        let Some((name, _)) = self.pick_ours()? else { return Ok(()) };
        let (property, value) = match Kind::of(&name.type_name) {
            Some(Kind::Vpc) => ("EnableDnsSupport", Value::from(self.rng.one_in(2))),
            Some(Kind::Bucket) => {
                let status = Value::from(if self.rng.one_in(2) { "Enabled" } else { "Suspended" });
                let members = [("Status".to_owned(), status)];
                ("VersioningConfiguration", Value::Map(members.into_iter().collect()))
            }
            Some(Kind::Queue) => ("DelaySeconds", Value::from(self.rng.below(900) as i64)),
            Some(Kind::Topic) => ("DisplayName", Value::from("changed")),
            Some(Kind::Role | Kind::Secret) => ("Description", Value::from("changed")),
            Some(Kind::Function) => ("MemorySize", Value::from(512)),
            Some(Kind::LogGroup) => ("RetentionInDays", Value::from(30)),
            Some(Kind::Parameter) => ("Value", Value::from("changed")),
            _ => return Ok(()),
        };
        let patch = add(property, &value)?;
        self.cloud.drift(&name, &patch).map_err(|error| error.to_string())?;
        self.trace.push(format!("people set {property} of {} {}", name.type_name, name.identifier));
        self.drifted = Some((name, property, value));
        Ok(())
    }

    /// Removes the VPCs of others, whose number the quota counts too.
    pub(super) fn make_room(&mut self) -> Result<(), String> {
        let is_vpc = |name: &&ResourceName| name.type_name == "AWS::EC2::VPC";
        let vpcs: Vec<ResourceName> = self.foreign.keys().filter(is_vpc).cloned().collect();
        for name in vpcs {
            self.cloud.remove(&name).map_err(|error| error.to_string())?;
            self.foreign.remove(&name);
        }
        Ok(())
    }

    fn pick_ours(&mut self) -> Result<Option<(ResourceName, u64)>, String> {
        let ours = self.ours()?;
        Ok(self.rng.pick(&ours).cloned())
    }
}

fn add(property: &str, value: &Value) -> Result<Value, String> {
    let patch = format!(r#"[{{"op":"add","path":"/{property}","value":{}}}]"#, value.to_json());
    serde_json::from_str(&patch).map_err(|error| error.to_string())
}
