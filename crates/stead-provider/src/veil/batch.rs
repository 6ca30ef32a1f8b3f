//! Batch reads behind the veil: records are revealed, and each answer has its secrets marked, as for a read of one.

use std::borrow::Cow;

use async_trait::async_trait;
use stead_model::{Resource, TypeToken};

use super::Veil;
use super::marks::Marks;
use crate::{BatchReads, LiveState, Refusal};

#[async_trait]
impl BatchReads for Veil {
    fn covers(&self, resource: &TypeToken) -> bool {
        self.inner.batch_reads().is_some_and(|batch| batch.covers(resource))
    }

    async fn read_all(&self, resources: &[&Resource]) -> Result<Vec<Option<LiveState>>, Refusal> {
        let Some(inner) = self.inner.batch_reads() else {
            return Err(Refusal::new(format!(
                "the provider `{}` reads one resource at a time",
                self.inner.name()
            )));
        };
        let _under_way = self.reads.begin(resources.len());
        let marks: Vec<Marks> = resources.iter().map(|resource| Marks::of_record(resource)).collect();
        marks.iter().for_each(|marks| self.known.learn_from(marks));
        let revealed: Vec<Cow<'_, Resource>> =
            resources.iter().zip(&marks).map(|(resource, marks)| marks.record(resource)).collect();
        let shown: Vec<&Resource> = revealed.iter().map(Cow::as_ref).collect();
        let answers =
            inner.read_all(&shown).await.map_err(|refusal| self.refusal(&Marks::default(), refusal))?;
        let marked = |((resource, marks), found): ((&&Resource, &Marks), Option<LiveState>)| {
            found.map(|live| self.live(&resource.ty, marks, (&resource.inputs, &resource.outputs), live))
        };
        Ok(resources.iter().zip(&marks).zip(answers).map(marked).collect())
    }
}
