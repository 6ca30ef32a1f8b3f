//! Files and folders: atomic writes, permission bits and the property `path`.

pub(crate) mod disk;
pub(crate) mod mode;
pub(crate) mod path;
