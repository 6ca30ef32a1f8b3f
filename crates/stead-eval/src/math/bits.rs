//! Access to the halves of a double, by which the algorithms choose their branches.

/// Returns the sign, the exponent and the first 20 bits of the fraction.
pub(super) fn high(x: f64) -> i32 {
    (x.to_bits() >> 32) as i32
}

/// Returns the high half without the sign.
pub(super) fn magnitude(x: f64) -> i32 {
    high(x) & 0x7fff_ffff
}

/// Returns the last 32 bits of the fraction.
pub(super) fn low(x: f64) -> u32 {
    x.to_bits() as u32
}

pub(super) fn from_halves(high: i32, low: u32) -> f64 {
    f64::from_bits(u64::from(high as u32) << 32 | u64::from(low))
}

pub(super) fn with_high(x: f64, high: i32) -> f64 {
    from_halves(high, low(x))
}

/// Clears the last 32 bits, so that products with another such number are exact.
pub(super) fn head(x: f64) -> f64 {
    from_halves(high(x), 0)
}

/// Returns `2^exponent` for an exponent of a normal number.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    from_halves((1023 + exponent) << 20, 0)
}

/// Evaluates a polynomial, lowest coefficient first.
pub(super) fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    let mut all = coefficients.iter().rev();
    let last = all.next().copied().unwrap_or(0.0);
    all.fold(last, |sum, coefficient| coefficient + x * sum)
}
