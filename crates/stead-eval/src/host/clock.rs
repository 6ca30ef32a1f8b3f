//! Decides from a stack trace whether a package may ask for time or randomness: it gets constants then.
//!
//! The trace is read as the engine writes it: source maps would cost more than the whole load of a large package.

use crate::program::specifier::is_foreign;
use crate::program::trace::raw_frames;

/// Function of the prelude that runs a CommonJS file; the frames inside it belong to the file that is loaded.
const RUNS_FILE: &str = "runCommonJsFile";

/// Returns true if a package is being loaded, and no code of the program itself takes part in it.
pub(super) fn loads_package(stack: &str) -> bool {
    let frames = raw_frames(stack);
    let inner = frames.into_iter().take_while(|(function, _)| *function != RUNS_FILE);
    let files: Vec<&str> =
        inner.filter_map(|(_, file)| file).filter(|file| !file.starts_with("stead:")).collect();
    !files.is_empty() && files.iter().all(|file| is_foreign(file))
}

/// Returns true for a function of a package that asks for the time and whose result does not depend on it.
///
/// lodash counts how often it wraps functions, to stop when that happens too often within some milliseconds. The plugin
/// `duration` of dayjs makes a date only to reach its methods.
pub(super) fn ignores_time(stack: &str) -> bool {
    const LODASH: &[&str] = &["baseRest", "flatRest", "setWrapToString", "createWrap", "createRecurry"];
    let frames = raw_frames(stack);
    let files = frames.into_iter().filter_map(|(function, file)| Some((function, file?)));
    let mut files = files.filter(|(_, file)| !file.starts_with("stead:"));
    let Some((function, file)) = files.next() else { return false };
    if file.contains("node_modules/lodash") {
        let caller = files.next();
        return function.is_empty() && caller.is_some_and(|(name, _)| LODASH.contains(&name));
    }
    file.contains("node_modules/dayjs/")
        && files
            .take_while(|(_, file)| is_foreign(file))
            .any(|(_, file)| file.ends_with("dayjs/plugin/duration.js"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_packages_takes_part_in_a_load() {
        let load = "    at random (stead:sandbox:1:1)\n    at <anonymous> (node_modules/a/index.js:3:1)\n";
        assert!(loads_package(load));
        assert!(!loads_package(&format!("{load}    at <anonymous> (main.ts:1:1)\n")));
        let required =
            format!("{load}    at runCommonJsFile (stead:commonjs:9:1)\n    at <anonymous> (main.ts:1:1)\n");
        assert!(loads_package(&required));
        assert!(!loads_package("    at random (stead:sandbox:1:1)\n"));
    }

    #[test]
    fn only_named_functions_of_packages_may_ignore_the_time() {
        let at = |function: &str, file: &str| format!("    at {function} (node_modules/{file}:1:1)\n");
        let wrapped = at("<anonymous>", "lodash/lodash.js") + &at("baseRest", "lodash/lodash.js");
        assert!(ignores_time(&wrapped));
        assert!(!ignores_time(&(at("now", "lodash/lodash.js") + &at("baseRest", "lodash/lodash.js"))));
        assert!(!ignores_time(&at("<anonymous>", "lodash/lodash.js")));
        assert!(ignores_time(&(at("a", "dayjs/dayjs.min.js") + &at("b", "dayjs/plugin/duration.js"))));
        assert!(!ignores_time(&at("a", "dayjs/dayjs.min.js")));
    }
}
