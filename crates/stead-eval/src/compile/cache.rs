//! Compiled files that several evaluations share, such as a test run that declares one program with many configs.
//!
//! **Invariant:** a file is reused only if path, text, form and first site number are the same, and nothing else decides its
//! code. A file with an error is compiled again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use stead_model::Diagnostic;

use super::{Compiled, Format, Unit, compile};
use crate::UnknownBranches;

/// Compiled files of one process, by path, text and settings.
#[derive(Clone, Debug, Default)]
pub struct CompiledFiles {
    files: Arc<Mutex<HashMap<Origin, Arc<CompiledFile>>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Origin {
    path: String,
    first_site: usize,
    branches: UnknownBranches,
    format: Format,
}

#[derive(Debug)]
struct CompiledFile {
    text: String,
    compiled: Compiled,
}

impl CompiledFiles {
    /// Compiles a file, or returns a copy of the result of an earlier evaluation for the same text.
    pub(crate) fn compile(&self, unit: Unit<'_>) -> Result<Compiled, Vec<Diagnostic>> {
        let Unit { source, first_site, branches, format } = unit;
        let origin = Origin { path: source.path.clone(), first_site, branches, format };
        let known = self.files.lock().unwrap_or_else(PoisonError::into_inner).get(&origin).cloned();
        if let Some(known) = known.filter(|known| known.text == source.text) {
            return Ok(known.compiled.clone());
        }
        // The lock is free meanwhile: two evaluations that compile the same file get the same code.
        let compiled = compile(unit)?;
        let file = CompiledFile { text: source.text.clone(), compiled: compiled.clone() };
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(origin, Arc::new(file));
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::source_text::SourceText;

    fn code(files: &CompiledFiles, text: &str, first_site: usize, branches: UnknownBranches) -> String {
        let source = SourceText::new("main.ts", text.to_owned());
        let unit = Unit { source: &source, first_site, branches, format: Format::Module };
        files.compile(unit).unwrap().code
    }

    #[test]
    fn only_the_same_text_at_the_same_site_is_reused() {
        let (files, refuse) = (CompiledFiles::default(), UnknownBranches::Refuse);
        let first = code(&files, "new A();", 0, refuse);
        assert_eq!(code(&files, "new A();", 0, refuse), first);
        assert_eq!(files.files.lock().unwrap().len(), 1);
        assert_ne!(code(&files, "new B();", 0, refuse), first);
        assert_ne!(code(&files, "new A();", 7, refuse), first);
        assert_ne!(
            code(&files, "a ? b : c;", 0, UnknownBranches::Allow),
            code(&files, "a ? b : c;", 0, refuse)
        );
        assert_eq!(code(&files, "new A();", 0, refuse), first);
    }

    #[test]
    fn file_with_an_error_is_not_kept() {
        let files = CompiledFiles::default();
        let source = SourceText::new("main.ts", "const = 1;".to_owned());
        let unit = Unit {
            source: &source,
            first_site: 0,
            branches: UnknownBranches::Refuse,
            format: Format::Module,
        };
        assert!(files.compile(unit).is_err());
        assert!(files.files.lock().unwrap().is_empty());
    }
}
