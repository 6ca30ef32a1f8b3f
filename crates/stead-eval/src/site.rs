//! Sites: the places in the source where a value decides something, or where a resource is made.
//!
//! Generated code carries only a site's number; everything else about it stays here.

use std::rc::Rc;

use oxc_span::Span;

use crate::place::{Place, SourceText};

/// What the code at a site does with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// `if`, `while`, `do`, `for`.
    Test,
    /// `a ? b : c`.
    Choose,
    /// `&&`, `||`, `&&=`, `||=`.
    Logical,
    /// `??`, `??=`.
    Nullish,
    Not,
    Switch,
    Compare,
    TypeOf,
    In,
    InstanceOf,
    /// `?.`.
    OptionalChain,
    Iterate,
    Spread,
    Destructure,
    /// An object key or an array index.
    Key,
    /// A length or a count.
    Count,
    Throw,
    Extends,
    /// What `valueOf`, `toString` or `toJSON` returns.
    Convert,
    /// `done` of what an iterator's `next` gives.
    Done,
    Add,
    Arithmetic,
    New,
}

/// A key of an object literal that is an argument of `new`.
#[derive(Clone, Debug)]
pub(crate) struct LiteralKey {
    pub(crate) name: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) usage: Use,
    pub(crate) span: Span,
    /// For `new`: the keys of the arguments that are object literals.
    pub(crate) keys: Vec<LiteralKey>,
}

/// All sites of a program, over all its files.
#[derive(Debug, Default)]
pub(crate) struct SiteTable {
    sites: Vec<Site>,
    /// The first site of each file, in order.
    files: Vec<(usize, Rc<SourceText>)>,
}

impl SiteTable {
    /// Adds the sites of one file, which were numbered from `len()` on.
    pub(crate) fn add(&mut self, file: Rc<SourceText>, sites: Vec<Site>) {
        self.files.push((self.sites.len(), file));
        self.sites.extend(sites);
    }

    pub(crate) fn len(&self) -> usize {
        self.sites.len()
    }

    pub(crate) fn usage(&self, site: usize) -> Option<Use> {
        self.sites.get(site).map(|site| site.usage)
    }

    pub(crate) fn file(&self, site: usize) -> Option<&Rc<SourceText>> {
        let after = self.files.partition_point(|(first, _)| *first <= site);
        self.files.get(after.checked_sub(1)?).map(|(_, file)| file)
    }

    pub(crate) fn place(&self, site: usize) -> Option<Place> {
        Some(self.file(site)?.place(self.sites.get(site)?.span))
    }

    /// Where the argument of a `new` sets a property.
    pub(crate) fn key(&self, site: usize, name: &str) -> Option<Place> {
        let key = self.sites.get(site)?.keys.iter().find(|key| key.name == name)?;
        Some(self.file(site)?.place(key.span))
    }
}
