//! Logarithms, and the inverse hyperbolic functions that use them.

use std::f64::consts::LN_2;

use super::bits::{head, high, low, magnitude, polynomial, with_high};
use super::exponential::LN2;

const INFINITE_HIGH: i32 = 0x7ff0_0000;
const TWO_54: f64 = 18_014_398_509_481_984.0;

/// Coefficients of `(ln(1 + s) - ln(1 - s)) / s - 2` in powers of `s²`.
const LOG: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];
const LOG_EVEN: [f64; 3] = [LOG[1], LOG[3], LOG[5]];
const LOG_ODD: [f64; 4] = [LOG[0], LOG[2], LOG[4], LOG[6]];

fn series(s: f64) -> f64 {
    let square = s * s;
    let fourth = square * square;
    square * polynomial(fourth, &LOG_ODD) + fourth * polynomial(fourth, &LOG_EVEN)
}

/// A positive finite number as `2^exponent × x`, where `x` is normal.
fn normal(x: f64) -> (i32, f64) {
    if high(x) < 0x0010_0000 { (-54, x * TWO_54) } else { (0, x) }
}

/// Splits a normal number into `2^exponent × (1 + fraction)`, from √½ to √2. The last number is the start of the fraction's bits.
fn split((exponent, x): (i32, f64)) -> (i32, f64, i32) {
    let bits = high(x) & 0x000f_ffff;
    let above = (bits + 0x9_5f64) & 0x0010_0000;
    let one = with_high(x, bits | (above ^ 0x3ff0_0000));
    (exponent + (high(x) >> 20) - 1023 + (above >> 20), one - 1.0, bits)
}

/// Returns the logarithm of numbers that need no computation.
fn special(x: f64) -> Option<f64> {
    if x == 0.0 {
        return Some(f64::NEG_INFINITY);
    }
    if x < 0.0 {
        return Some(f64::NAN);
    }
    (magnitude(x) >= INFINITE_HIGH).then_some(x)
}

pub(super) fn log(x: f64) -> f64 {
    if let Some(result) = special(x) {
        return result;
    }
    let (exponent, f, bits) = split(normal(x));
    let times = f64::from(exponent);
    if 0x000f_ffff & (2 + bits) < 3 {
        if f == 0.0 {
            return if exponent == 0 { 0.0 } else { times * LN2.0 + times * LN2.1 };
        }
        let more = f * f * (0.5 - 0.333_333_333_333_333_3 * f);
        return if exponent == 0 { f - more } else { times * LN2.0 - ((more - times * LN2.1) - f) };
    }
    let s = f / (2.0 + f);
    let more = series(s);
    if (bits - 0x6_147a) | (0x6_b851 - bits) > 0 {
        let half = 0.5 * f * f;
        if exponent == 0 {
            return f - (half - s * (half + more));
        }
        return times * LN2.0 - ((half - (s * (half + more) + times * LN2.1)) - f);
    }
    if exponent == 0 {
        return f - s * (f - more);
    }
    times * LN2.0 - ((s * (f - more) - times * LN2.1) - f)
}

/// `1 + x` as `2^exponent × (1 + fraction)`, with the error of the sum.
struct Successor {
    exponent: i32,
    fraction: f64,
    error: f64,
    /// True if the fraction is so small that two terms are enough.
    tiny: bool,
}

fn successor(x: f64) -> Successor {
    let exact = high(x) >= 0x4340_0000;
    let sum = if exact { x } else { 1.0 + x };
    let exponent = (high(sum) >> 20) - 1023;
    let error = match exponent {
        _ if exact => 0.0,
        1.. => (1.0 - (sum - x)) / sum,
        _ => (x - (sum - 1.0)) / sum,
    };
    let bits = high(sum) & 0x000f_ffff;
    if bits < 0x6_a09e {
        let fraction = with_high(sum, bits | 0x3ff0_0000) - 1.0;
        return Successor { exponent, fraction, error, tiny: bits == 0 };
    }
    let fraction = with_high(sum, bits | 0x3fe0_0000) - 1.0;
    Successor { exponent: exponent + 1, fraction, error, tiny: (0x0010_0000 - bits) >> 2 == 0 }
}

pub(super) fn log1p(x: f64) -> f64 {
    let (bits, size) = (high(x), magnitude(x));
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x <= -1.0 {
        return if x == -1.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    if size < 0x3e20_0000 {
        return if size < 0x3c90_0000 { x } else { x - x * x * 0.5 };
    }
    // From √½ - 1 to √2 - 1 the sum is not needed.
    let near = bits < 0x3fda_827a && (bits > 0 || bits <= 0xbfd2_bec4_u32 as i32);
    let Successor { exponent, fraction: f, error, tiny } =
        if near { Successor { exponent: 0, fraction: x, error: 0.0, tiny: false } } else { successor(x) };
    let times = f64::from(exponent);
    let half = 0.5 * f * f;
    if tiny {
        if f == 0.0 {
            return if exponent == 0 { 0.0 } else { times * LN2.0 + (error + times * LN2.1) };
        }
        let more = half * (1.0 - 0.666_666_666_666_666_6 * f);
        return if exponent == 0 { f - more } else { times * LN2.0 - ((more - (times * LN2.1 + error)) - f) };
    }
    let s = f / (2.0 + f);
    let square = s * s;
    let more = square * polynomial(square, &LOG);
    if exponent == 0 {
        return f - (half - s * (half + more));
    }
    times * LN2.0 - ((half - (s * (half + more) + (times * LN2.1 + error))) - f)
}

/// 1 / ln 2 in two parts.
const ONE_OVER_LN2: (f64, f64) = (1.442_695_040_721_446_3, 1.675_171_316_488_651_2e-10);

pub(super) fn log2(x: f64) -> f64 {
    if let Some(result) = special(x) {
        return result;
    }
    if x == 1.0 {
        return 0.0;
    }
    let (exponent, f, _) = split(normal(x));
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let more = s * (half + series(s));
    let start = head(f - half);
    let end = (f - start) - half + more;
    let product = start * ONE_OVER_LN2.0;
    let rest = (end + start) * ONE_OVER_LN2.1 + end * ONE_OVER_LN2.0;
    let whole = f64::from(exponent);
    let sum = whole + product;
    (rest + ((whole - sum) + product)) + sum
}

const ONE_OVER_LN10: f64 = std::f64::consts::LOG10_E;
/// log10 2 in two parts.
const LOG10_2: (f64, f64) = (3.010_299_956_636_117_7e-1, 3.694_239_077_158_931e-13);

pub(super) fn log10(x: f64) -> f64 {
    if let Some(result) = special(x) {
        return result;
    }
    if x == 1.0 {
        return 0.0;
    }
    let (shift, x) = normal(x);
    let exponent = shift + (high(x) >> 20) - 1023;
    let below = i32::from(exponent < 0);
    let times = f64::from(exponent + below);
    let scaled = super::bits::from_halves((high(x) & 0x000f_ffff) | ((0x3ff - below) << 20), low(x));
    (times * LOG10_2.1 + ONE_OVER_LN10 * log(scaled)) + times * LOG10_2.0
}

pub(super) fn acosh(x: f64) -> f64 {
    if x.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    match high(x) {
        0x41b0_0000.. => log(x) + LN_2,
        0x4000_0001.. => log(2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())),
        _ if x == 1.0 => 0.0,
        _ => {
            let t = x - 1.0;
            log1p(t + (2.0 * t + t * t).sqrt())
        }
    }
}

pub(super) fn asinh(x: f64) -> f64 {
    let size = magnitude(x);
    if !(0x3e30_0000..INFINITE_HIGH).contains(&size) {
        return x;
    }
    let positive = x.abs();
    let square = x * x;
    let result = match size {
        0x41b0_0001.. => log(positive) + LN_2,
        0x4000_0001.. => log(2.0 * positive + 1.0 / ((square + 1.0).sqrt() + positive)),
        _ => log1p(positive + square / (1.0 + (1.0 + square).sqrt())),
    };
    if high(x) > 0 { result } else { -result }
}

pub(super) fn atanh(x: f64) -> f64 {
    let positive = x.abs();
    if x.is_nan() || positive > 1.0 {
        return f64::NAN;
    }
    if positive == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    let size = magnitude(x);
    if size < 0x3e30_0000 {
        return x;
    }
    let double = positive + positive;
    let argument = if size < 0x3fe0_0000 {
        double + double * positive / (1.0 - positive)
    } else {
        double / (1.0 - positive)
    };
    (0.5 * log1p(argument)).copysign(x)
}
