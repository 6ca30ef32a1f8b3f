//! Modules of Node.js: the pure ones as JavaScript files in `prelude/node`, the others as functions that refuse to run.
//!
//! A program may import every module. Time, randomness, network and processes are refused when they are used.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Text of each pure module.
const PURE: &[(&str, &str)] = &[
    ("assert", include_str!("../prelude/node/assert.js")),
    ("buffer", include_str!("../prelude/node/buffer.js")),
    ("crypto", include_str!("../prelude/node/crypto.js")),
    ("events", include_str!("../prelude/node/events.js")),
    ("fs", include_str!("../prelude/node/fs.js")),
    ("os", include_str!("../prelude/node/os.js")),
    ("path", include_str!("../prelude/node/path.js")),
    ("process", include_str!("../prelude/node/process.js")),
    ("querystring", include_str!("../prelude/node/querystring.js")),
    ("string_decoder", include_str!("../prelude/node/string_decoder.js")),
    ("url", include_str!("../prelude/node/url.js")),
    ("util", include_str!("../prelude/node/util.js")),
    ("internal/inspect", include_str!("../prelude/node/inspect.js")),
    ("internal/buffer-numbers", include_str!("../prelude/node/buffer-numbers.js")),
    ("internal/equal", include_str!("../prelude/node/equal.js")),
    ("internal/errors", include_str!("../prelude/node/errors.js")),
    ("internal/tasks", include_str!("../prelude/node/tasks.js")),
    ("internal/unavailable", include_str!("../prelude/node/unavailable.js")),
    ("internal/globals", include_str!("../prelude/node/globals.js")),
    ("internal/types", include_str!("../prelude/node/types.js")),
    ("internal/url-legacy", include_str!("../prelude/node/url-legacy.js")),
    ("internal/url-resolve", include_str!("../prelude/node/url-resolve.js")),
    ("async_hooks", include_str!("../prelude/node/async_hooks.js")),
    ("perf_hooks", "module.exports = require(\"node:internal/globals\").perfHooks;"),
    ("timers", "module.exports = require(\"node:internal/globals\").timers;"),
    ("module", include_str!("../prelude/node/module.js")),
    ("console", "module.exports = Object.assign(Object.create(null), console, { default: console });"),
    ("constants", "module.exports = {};"),
    ("sys", "module.exports = require(\"node:util\");"),
    ("assert/strict", "module.exports = require(\"node:assert\").strict;"),
    ("fs/promises", "module.exports = require(\"node:fs\").promises;"),
    ("path/posix", "module.exports = require(\"node:path\").posix;"),
    ("path/win32", "module.exports = require(\"node:path\").win32;"),
    ("util/types", "module.exports = require(\"node:internal/types\");"),
];

/// Functions of the modules that are not available: a module and its functions on each line.
const UNAVAILABLE: &str = include_str!("../prelude/node/unavailable.txt");

/// Returns true for the name of a module of Node.js, without the prefix `node:`.
pub(crate) fn is_builtin(name: &str) -> bool {
    !name.starts_with("internal/") && (pure(name).is_some() || functions(name).is_some())
}

/// Returns the text of a module as CommonJS; `None` if Node.js has no such module.
pub(crate) fn text(name: &str) -> Option<Cow<'static, str>> {
    if let Some(text) = pure(name) {
        return Some(Cow::Borrowed(text));
    }
    let functions = functions(name)?;
    Some(Cow::Owned(format!(
        "module.exports = require(\"node:internal/unavailable\").module({name:?}, {functions:?});"
    )))
}

/// Returns the names that a module of the unavailable ones exports.
pub(crate) fn exported(name: &str) -> BTreeSet<String> {
    functions(name)
        .unwrap_or_default()
        .split(' ')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn pure(name: &str) -> Option<&'static str> {
    PURE.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn functions(name: &str) -> Option<&'static str> {
    UNAVAILABLE.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_node_are_known_with_their_functions() {
        assert!(
            is_builtin("path") && is_builtin("fs/promises") && is_builtin("http") && is_builtin("stream/web")
        );
        assert!(!is_builtin("internal/inspect") && !is_builtin("lodash") && !is_builtin("http/x"));
        assert!(exported("child_process").contains("execSync"));
        assert!(text("nothing").is_none());
    }
}
