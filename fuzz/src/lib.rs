//! The functions that the fuzz targets and the ordinary tests share: one for each decoder.

pub mod entries;
pub mod schemas;

/// Reads `stead.toml`, which may be any text.
pub fn config(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = stead::check(text);
    }
}

/// Reads a saved plan: its seal, and the plan behind a seal that fits.
pub fn saved(bytes: &[u8]) {
    let parse = |body: &[u8]| serde_json::from_slice::<stead::SavedPlan>(body).is_ok();
    let _ = stead_state::unseal(bytes).map(parse);
    let whole = entries::sealed(bytes);
    assert!(stead_state::unseal(&whole).map(parse).is_some());
}
