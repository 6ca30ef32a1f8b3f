//! Log events and data of metrics: batches, each as one call brought it, so that a call writes only what is new.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::place::Place;

/// Where a batch belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Shelf {
    Stream { group: String, stream: String },
    Metric { namespace: String, name: String, dimensions: BTreeMap<String, String> },
}

/// A batch: its place, its shelf, and a number that no other batch has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct BatchKey {
    pub(crate) place: Place,
    pub(crate) shelf: Shelf,
    pub(crate) number: u64,
}

/// Event of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogEvent {
    pub(crate) at: u64,
    pub(crate) received: u64,
    pub(crate) message: String,
}

/// Values of a metric at one time, as a set of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Datum {
    pub(crate) at: u64,
    pub(crate) count: f64,
    pub(crate) sum: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Batch {
    Events(Vec<LogEvent>),
    Data(Vec<Datum>),
}

/// All batches of a cloud.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batches {
    all: BTreeMap<BatchKey, Batch>,
    last: u64,
}

impl Batches {
    pub(crate) fn get(&self, key: &BatchKey) -> Option<&Batch> {
        self.all.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&BatchKey, &Batch)> {
        self.all.iter()
    }

    /// Returns the key of a new batch.
    pub(crate) fn next_key(&self, place: &Place, shelf: Shelf) -> BatchKey {
        BatchKey { place: place.clone(), shelf, number: self.last + 1 }
    }

    pub(crate) fn set(&mut self, key: BatchKey, batch: Option<Batch>) {
        self.last = self.last.max(key.number);
        match batch {
            Some(batch) => drop(self.all.insert(key, batch)),
            None => drop(self.all.remove(&key)),
        }
    }

    /// Returns the batches of a log group.
    pub(crate) fn of_group<'a>(
        &'a self,
        place: &'a Place,
        group: &'a str,
    ) -> impl Iterator<Item = (&'a BatchKey, &'a str, &'a Batch)> {
        let shelf = Shelf::Stream { group: group.to_owned(), stream: String::new() };
        let first = BatchKey { place: place.clone(), shelf, number: 0 };
        self.all.range(first..).map_while(move |(key, batch)| match &key.shelf {
            Shelf::Stream { group: of, stream } if of == group && key.place == *place => {
                Some((key, stream.as_str(), batch))
            }
            _ => None,
        })
    }

    /// Returns the data of a metric.
    pub(crate) fn of_metric<'a>(
        &'a self,
        place: &'a Place,
        shelf: &'a Shelf,
    ) -> impl Iterator<Item = &'a Datum> {
        let first = BatchKey { place: place.clone(), shelf: shelf.clone(), number: 0 };
        let batches = self.all.range(first..);
        batches.take_while(move |(key, _)| key.shelf == *shelf && key.place == *place).flat_map(
            |(_, batch)| match batch {
                Batch::Data(data) => data.as_slice(),
                Batch::Events(_) => &[],
            },
        )
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}
