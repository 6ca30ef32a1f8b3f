//! Crypters: the implementations of [`stead_model::Crypter`].

mod blinding;
mod locked;
mod symmetric;
#[cfg(test)]
mod tests;

pub use blinding::BlindingCrypter;
pub use locked::LockedCrypter;
pub use symmetric::SymmetricCrypter;
