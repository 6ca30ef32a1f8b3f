//! Powers and the cube root.

use super::bits::{from_halves, head, high, magnitude, polynomial, power_of_two, with_high};
use super::exponential::EXP;

const ONE_HIGH: i32 = 0x3ff0_0000;
const INFINITE_HIGH: i32 = 0x7ff0_0000;

/// Returns `x ** y`.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if y.is_infinite() {
        return power_of_infinity(x.abs(), y);
    }
    if y == 1.0 {
        return x;
    }
    if y == -1.0 {
        return 1.0 / x;
    }
    if y == 2.0 {
        return x * x;
    }
    if y == 0.5 && high(x) >= 0 {
        return x.sqrt();
    }
    let parity = parity(y);
    let negative = high(x) < 0;
    let sign = if negative && parity == Parity::Odd { -1.0 } else { 1.0 };
    let base = x.abs();
    if base == 0.0 || base == 1.0 || base.is_infinite() {
        if negative && base == 1.0 && parity == Parity::Fraction {
            return f64::NAN;
        }
        return sign * if y < 0.0 { 1.0 / base } else { base };
    }
    if negative && parity == Parity::Fraction {
        return f64::NAN;
    }
    match logarithm(base, y) {
        Ok(logarithm) => sign * exponential(logarithm, y),
        Err(limit) => sign * limit,
    }
}

fn power_of_infinity(base: f64, y: f64) -> f64 {
    if base == 1.0 {
        return f64::NAN;
    }
    if (base > 1.0) == (y > 0.0) { f64::INFINITY } else { 0.0 }
}

#[derive(Clone, Copy, PartialEq)]
enum Parity {
    Even,
    Odd,
    Fraction,
}

fn parity(y: f64) -> Parity {
    if y.trunc() != y {
        return Parity::Fraction;
    }
    if y % 2.0 == 0.0 { Parity::Even } else { Parity::Odd }
}

/// Logarithm in base 2 as a sum of two doubles; the first has few digits, so that products of it are exact.
struct Logarithm {
    start: f64,
    end: f64,
}

/// Returns the logarithm of a positive base, or the power if the exponent is so large that it overflows.
fn logarithm(base: f64, y: f64) -> Result<Logarithm, f64> {
    let (size, exponent) = (magnitude(base), magnitude(y));
    if exponent <= 0x41e0_0000 {
        return Ok(logarithm_of_any(base));
    }
    let limit = |grows: bool| if grows { f64::INFINITY } else { 0.0 };
    let always = exponent > 0x43f0_0000;
    if size < 0x3fef_ffff || (always && size == 0x3fef_ffff) {
        return Err(limit(y < 0.0));
    }
    if size > ONE_HIGH || (always && size == ONE_HIGH) {
        return Err(limit(y > 0.0));
    }
    Ok(logarithm_near_one(base))
}

/// 1 / ln 2, and in two parts.
const ONE_OVER_LN2: f64 = std::f64::consts::LOG2_E;
const ONE_OVER_LN2_PARTS: (f64, f64) = (1.442_695_021_629_333_5, 1.925_962_991_126_617_5e-8);

fn logarithm_near_one(base: f64) -> Logarithm {
    let t = base - 1.0;
    let w = (t * t) * (0.5 - t * (0.333_333_333_333_333_3 - t * 0.25));
    let u = ONE_OVER_LN2_PARTS.0 * t;
    let v = t * ONE_OVER_LN2_PARTS.1 - w * ONE_OVER_LN2;
    let start = head(u + v);
    Logarithm { start, end: v - (start - u) }
}

/// Coefficients of the logarithm of `(1 + s) / (1 - s)`.
const LOG: [f64; 6] = [
    5.999_999_999_999_946e-1,
    4.285_714_285_785_502e-1,
    3.333_333_298_183_774_3e-1,
    2.727_281_238_085_34e-1,
    2.306_607_457_755_617_5e-1,
    2.069_750_178_003_384_2e-1,
];
/// 2 / (3 ln 2), and in two parts.
const SCALE: f64 = 9.617_966_939_259_756e-1;
const SCALE_PARTS: (f64, f64) = (9.617_967_009_544_373e-1, -7.028_461_650_952_758e-9);
/// Points around which the base is expanded, with the parts of their logarithms.
const POINTS: [(f64, f64, f64); 2] =
    [(1.0, 0.0, 0.0), (1.5, 5.849_624_872_207_642e-1, 1.350_039_202_129_749e-8)];

fn logarithm_of_any(base: f64) -> Logarithm {
    let subnormal = magnitude(base) < 0x0010_0000;
    let base = if subnormal { base * power_of_two(53) } else { base };
    let mut times = (magnitude(base) >> 20) - 1023 - if subnormal { 53 } else { 0 };
    let bits = magnitude(base) & 0x000f_ffff;
    let mut size = bits | ONE_HIGH;
    let mut index = 0;
    if bits >= 0xb_b67a {
        times += 1;
        size -= 0x0010_0000;
    } else if bits > 0x3_988e {
        index = 1;
    }
    let base = with_high(base, size);
    let (point, point_start, point_end) = POINTS[index];

    let u = base - point;
    let v = 1.0 / (base + point);
    let s = u * v;
    let s_start = head(s);
    let sum_start = from_halves(((size >> 1) | 0x2000_0000) + 0x0008_0000 + ((index as i32) << 18), 0);
    let sum_end = base - (sum_start - point);
    let s_end = v * ((u - s_start * sum_start) - s_start * sum_end);

    let square = s * s;
    let more = square * square * polynomial(square, &LOG) + s_end * (s_start + s);
    let square = s_start * s_start;
    let t_start = head(3.0 + square + more);
    let t_end = more - ((t_start - 3.0) - square);
    let u = s_start * t_start;
    let v = s_end * t_start + t_end * s;
    let p_start = head(u + v);
    let p_end = v - (p_start - u);
    let z_start = SCALE_PARTS.0 * p_start;
    let z_end = SCALE_PARTS.1 * p_start + p_end * SCALE + point_end;
    let times = f64::from(times);
    let start = head(((z_start + z_end) + point_start) + times);
    Logarithm { start, end: z_end - (((start - times) - point_start) - z_start) }
}

/// ln 2, and in two parts.
const LN2: f64 = std::f64::consts::LN_2;
const LN2_PARTS: (f64, f64) = (6.931_471_824_645_996e-1, -1.904_654_299_957_768e-9);
/// Distance from 1024 at which a power rounds to infinity.
const OVERFLOW: f64 = 8.008_566_259_537_294e-17;

/// Returns 2 to the power of the product of a logarithm and `y`.
fn exponential(logarithm: Logarithm, y: f64) -> f64 {
    let y_start = head(y);
    let end = (y - y_start) * logarithm.start + y * logarithm.end;
    let mut start = y_start * logarithm.start;
    let sum = end + start;
    if sum > 1024.0 || (sum == 1024.0 && end + OVERFLOW > sum - start) {
        return f64::INFINITY;
    }
    if sum < -1075.0 || (sum == -1075.0 && end <= sum - start) {
        return 0.0;
    }
    let mut times = 0;
    if magnitude(sum) > 0x3fe0_0000 {
        let rounded = (sum.abs() + 0.5).trunc().copysign(sum);
        times = rounded as i32;
        start -= rounded;
    }
    let t = head(end + start);
    let u = t * LN2_PARTS.0;
    let v = (end - (t - start)) * LN2 + t * LN2_PARTS.1;
    let z = u + v;
    let w = v - (z - u);
    let square = z * z;
    let c = z - square * polynomial(square, &EXP);
    // V8 divides by the last term as well, unlike fdlibm.
    let r = (z * c) / ((c - 2.0) - (w + z * w));
    let result = 1.0 - (r - z);
    let bits = high(result) + (times << 20);
    if bits >> 20 > 0 {
        return with_high(result, bits);
    }
    // The result is subnormal: scale in two steps, of which only the last one rounds.
    result * power_of_two(times + 1000) * power_of_two(-1000)
}

/// Coefficients of `1 / ∛r` near 1.
const CBRT_LOW: [f64; 3] = [1.875_951_824_271_77, -1.884_979_795_433_771_7, 1.621_429_720_105_354_5];
const CBRT_HIGH: [f64; 2] = [-0.758_397_934_778_766, 0.145_996_192_886_612_45];

pub(super) fn cbrt(x: f64) -> f64 {
    let size = magnitude(x);
    if x == 0.0 || size >= INFINITE_HIGH {
        return x;
    }
    // A third of the exponent gives the first five bits.
    let guess = if size < 0x0010_0000 {
        magnitude(x * power_of_two(54)) / 3 + 696_219_795
    } else {
        size / 3 + 715_094_163
    };
    let t = from_halves(guess, 0).copysign(x);
    let r = (t * t) * (t / x);
    let t = t * (polynomial(r, &CBRT_LOW) + ((r * r) * r) * polynomial(r, &CBRT_HIGH));
    let t = f64::from_bits((t.to_bits() + 0x8000_0000) & 0xffff_ffff_c000_0000);
    let r = x / (t * t);
    t + t * ((r - t) / (t + t + r))
}
