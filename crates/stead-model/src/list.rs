//! `List`: the items of a list value, shared by all copies of it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::Value;

/// The items of a list. A clone is a pointer to the same items; the first change of a clone copies them.
#[derive(Clone, Debug, Default, PartialOrd, Ord)]
pub struct List(Arc<Vec<Value>>);

impl List {
    /// Returns true if both lists are one allocation. Equal lists may be two.
    pub fn is_same(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for List {
    fn eq(&self, other: &List) -> bool {
        self.is_same(other) || self.0 == other.0
    }
}

impl Eq for List {}

impl Deref for List {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl DerefMut for List {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.0)
    }
}

impl From<Vec<Value>> for List {
    fn from(mut items: Vec<Value>) -> Self {
        items.shrink_to_fit();
        List(Arc::new(items))
    }
}

impl From<List> for Vec<Value> {
    fn from(list: List) -> Self {
        Arc::unwrap_or_clone(list.0)
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl IntoIterator for List {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = std::slice::Iter<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a mut List {
    type Item = &'a mut Value;
    type IntoIter = std::slice::IterMut<'a, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
