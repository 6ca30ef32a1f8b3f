//! The syntax of the shared files: sections, settings, comments, and indented settings that belong to the one above.

use std::collections::BTreeMap;

/// A section with its settings, by lower-case name. A setting that occurs twice has its last value.
pub(super) struct Section {
    pub(super) name: String,
    pub(super) settings: BTreeMap<String, String>,
}

/// Reads all sections. A line that is no setting is left out, as the tools of AWS do.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An indented line is a setting inside the one above, such as those of `s3`.
        let nested = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = header(line) {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            sections.push(Section { name, settings: BTreeMap::new() });
        } else if let (false, Some(section), Some((key, value))) =
            (nested, sections.last_mut(), line.split_once('='))
        {
            section.settings.insert(key.trim().to_ascii_lowercase(), without_comment(value).to_owned());
        }
    }
    sections
}

fn header(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.split(']').next()
}

/// Removes a comment, which starts with ` #` or ` ;`.
fn without_comment(value: &str) -> &str {
    let comment = |mark| value.find(mark);
    let marks = [" #", " ;", "\t#", "\t;"];
    let end = marks.into_iter().filter_map(comment).min().unwrap_or(value.len());
    value[..end].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_settings_and_comments_are_read() {
        let text = "\u{feff}# comment\nlost = 1\n[default]\nregion=eu-west-1 # Dublin\nKEY = a#b=c\n\ns3 =\n  max = 2\n; x\n\
                    [profile  two words ] ; comment\nregion = a\nregion = b\nnonsense\n";
        let all = sections(text);
        assert_eq!(
            all.iter().map(|section| &*section.name).collect::<Vec<_>>(),
            ["default", "profile two words"]
        );
        let default = &all[0].settings;
        assert_eq!((&*default["region"], &*default["key"], &*default["s3"]), ("eu-west-1", "a#b=c", ""));
        assert!(!default.contains_key("max") && !default.contains_key("lost"));
        assert_eq!(all[1].settings["region"], "b");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_refused(text in "[\\[\\]=#; a-z\n\t]{0,80}") {
            sections(&text);
        }
    }
}
