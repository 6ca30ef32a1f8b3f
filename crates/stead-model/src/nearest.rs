//! Suggestions for misspelt names.

/// Returns the candidate closest to `wanted`, if the difference is as small as a typing error.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(wanted, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the number of substitutions, insertions, deletions and transpositions, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (a, b) = (letters(a), letters(b));
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j - 1] + differs).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_name_is_found_and_an_unrelated_one_is_not() {
        assert_eq!(nearest("contnt", ["path", "content", "mode"]), Some("content"));
        assert_eq!(nearest("Mode", ["path", "content", "mode"]), Some("mode"));
        assert_eq!(nearest("Fiel", ["Directory", "File"]), Some("File"));
        assert_eq!(nearest("colour", ["path", "content", "mode"]), None);
    }
}
