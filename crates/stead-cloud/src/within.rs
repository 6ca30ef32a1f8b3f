//! Sample texts and numbers within the limits of a schema.

use stead_schema::cfn::Limits;

use crate::expression::sample;

/// Number of alternatives of an expression that are tried.
const ALTERNATIVES: usize = 4;

/// Returns a text within the limits that resembles a label. If none is found, the label itself.
pub(crate) fn text<'a>(limits: impl Iterator<Item = &'a Limits> + Clone, label: &str) -> String {
    let least = limits.clone().filter_map(|limits| limits.length.least).max().unwrap_or(0) as usize;
    let most = limits.clone().filter_map(|limits| limits.length.most).min().map(|most| most as usize);
    let patterns = || limits.clone().filter_map(|limits| limits.pattern.as_ref());
    let fits = |text: &String| {
        let length = text.chars().count();
        length >= least
            && most.is_none_or(|most| length <= most)
            && patterns().all(|pattern| pattern.allows(text))
    };
    let short: String = label.chars().take(6).collect();
    let long = format!("{label}{}", "x".repeat(least.saturating_sub(label.chars().count())));
    let labels = [label, &short, "a", "1", &long, "2020-01-01T00:00:00Z", "/"];
    let plain = labels.iter().map(|label| resized(label, least, most));
    let made = (0..ALTERNATIVES).flat_map(|number| {
        let of = |label: &str| -> Vec<String> {
            patterns().filter_map(|pattern| sample(pattern.as_str(), label, number)).collect()
        };
        labels.iter().flat_map(|label| of(label)).collect::<Vec<_>>()
    });
    let made = made.flat_map(|text| [resized(&text, least, most), text]);
    plain.chain(made).find(fits).unwrap_or_else(|| label.to_owned())
}

/// Returns the end of a text, which tells it from others, or the text with more characters.
fn resized(text: &str, least: usize, most: Option<usize>) -> String {
    let count = text.chars().count();
    let skipped = most.map_or(0, |most| count.saturating_sub(most));
    let mut text: String = text.chars().skip(skipped).collect();
    let last = text.chars().last().unwrap_or('x');
    (count..least).for_each(|_| text.push(last));
    text
}

/// Returns a number within the limits, and the wanted one if the limits allow it.
pub(crate) fn number<'a>(limits: impl Iterator<Item = &'a Limits> + Clone, wanted: i64) -> i64 {
    let least = limits.clone().filter_map(|limits| limits.range.least);
    let least = least.map(|number| number.as_f64().ceil() as i64).max();
    let most = limits.filter_map(|limits| limits.range.most);
    let most = most.map(|number| number.as_f64().floor() as i64).min();
    let at_most = most.map_or(wanted, |most| wanted.min(most));
    match (least, most) {
        // Different numbers stay different where there is room.
        (Some(least), Some(most)) if most > least && wanted > most => {
            least + wanted.rem_euclid(most - least + 1)
        }
        (Some(least), _) => at_most.max(least),
        _ => at_most,
    }
}
