//! Sites: source positions where code inspects a value or creates an object.
//!
//! Generated code contains only the number of a site; span and usage are looked up here.

use std::rc::Rc;

use oxc_span::Span;

use crate::program::source_text::{SourceSpan, SourceText};

/// Use of a value at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
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
    /// Result of `valueOf`, `toString` or `toJSON`.
    Convert,
    /// `then`, which tells whether a value is a promise.
    Then,
    /// Value that a function given to `stead.apply` uses.
    Capture,
    /// Value that a function given to `stead.ephemeral` uses.
    CaptureEphemeral,
    /// Default of a parameter or of a name in a pattern.
    Default,
    /// `done` in the result of an iterator's `next`.
    Done,
    Add,
    Arithmetic,
    New,
}

/// Key of an object literal in the arguments of `new`.
#[derive(Clone, Debug)]
pub(crate) struct LiteralKey {
    pub(crate) name: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) usage: Usage,
    pub(crate) span: Span,
    /// Keys of the object literals in the arguments, for `new`.
    pub(crate) keys: Vec<LiteralKey>,
}

/// Text that sites belong to.
#[derive(Debug)]
enum SiteFile {
    Source(Rc<SourceText>),
    /// Code that the program made from text at this place.
    Generated(SourceSpan),
}

/// Sites of all files of a program.
#[derive(Debug, Default)]
pub(crate) struct SiteTable {
    sites: Vec<Site>,
    /// First site number of each file, ascending.
    files: Vec<(usize, SiteFile)>,
}

impl SiteTable {
    /// Adds the sites of one file, numbered from `len()`.
    pub(crate) fn add(&mut self, file: Rc<SourceText>, sites: Vec<Site>) {
        self.files.push((self.sites.len(), SiteFile::Source(file)));
        self.sites.extend(sites);
    }

    /// Adds the sites of code that the program made from text. All of them are located at the place that made it.
    pub(crate) fn add_generated(&mut self, place: SourceSpan, sites: Vec<Site>) {
        self.files.push((self.sites.len(), SiteFile::Generated(place)));
        self.sites.extend(sites);
    }

    pub(crate) fn len(&self) -> usize {
        self.sites.len()
    }

    pub(crate) fn usage(&self, site: usize) -> Option<Usage> {
        self.sites.get(site).map(|site| site.usage)
    }

    pub(crate) fn file(&self, site: usize) -> Option<&Rc<SourceText>> {
        match self.around(site)? {
            SiteFile::Source(file) => Some(file),
            SiteFile::Generated(_) => None,
        }
    }

    fn around(&self, site: usize) -> Option<&SiteFile> {
        let after = self.files.partition_point(|(first, _)| *first <= site);
        self.files.get(after.checked_sub(1)?).map(|(_, file)| file)
    }

    pub(crate) fn locate(&self, site: usize) -> Option<SourceSpan> {
        let own = self.sites.get(site)?;
        Some(match self.around(site)? {
            SiteFile::Source(file) => file.locate(own.span),
            SiteFile::Generated(place) => place.clone(),
        })
    }

    pub(crate) fn span(&self, site: usize) -> Option<Span> {
        self.sites.get(site).map(|site| site.span)
    }

    /// Locates a key in the object literals of a `new`.
    pub(crate) fn key(&self, site: usize, name: &str) -> Option<SourceSpan> {
        let key = self.sites.get(site)?.keys.iter().find(|key| key.name == name)?;
        Some(self.file(site)?.locate(key.span))
    }
}
