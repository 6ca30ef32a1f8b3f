//! Arcsine, arccosine and arctangent.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::bits::{head, high, low, magnitude, polynomial};

/// Difference between π/2 and its double.
const HALF_PI_REST: f64 = 6.123_233_995_736_766e-17;
const PI_REST: f64 = 1.224_646_799_147_353_2e-16;
const ONE_HIGH: i32 = 0x3ff0_0000;
const INFINITE_HIGH: i32 = 0x7ff0_0000;

const NUMERATOR: [f64; 6] = [
    1.666_666_666_666_666_6e-1,
    -3.255_658_186_224_009e-1,
    2.012_125_321_348_629_3e-1,
    -4.005_553_450_067_941e-2,
    7.915_349_942_898_145e-4,
    3.479_331_075_960_212e-5,
];
const DENOMINATOR: [f64; 5] = [
    1.0,
    -2.403_394_911_734_414,
    2.020_945_760_233_505_7,
    -6.882_839_716_054_533e-1,
    7.703_815_055_590_194e-2,
];

/// Returns about `(asin(√z) - √z) / √z`.
fn ratio(z: f64) -> f64 {
    z * polynomial(z, &NUMERATOR) / polynomial(z, &DENOMINATOR)
}

pub(super) fn asin(x: f64) -> f64 {
    let size = magnitude(x);
    if size >= ONE_HIGH {
        return if x.abs() == 1.0 { x * FRAC_PI_2 + x * HALF_PI_REST } else { f64::NAN };
    }
    if size < 0x3fe0_0000 {
        return if size < 0x3e40_0000 { x } else { x + x * ratio(x * x) };
    }
    let square = (1.0 - x.abs()) * 0.5;
    let root = square.sqrt();
    let angle = if size >= 0x3fef_3333 {
        FRAC_PI_2 - (2.0 * (root + root * ratio(square)) - HALF_PI_REST)
    } else {
        let start = head(root);
        let left = (square - start * start) / (root + start);
        let tail = 2.0 * root * ratio(square) - (HALF_PI_REST - 2.0 * left);
        FRAC_PI_4 - (tail - (FRAC_PI_4 - 2.0 * start))
    };
    if high(x) > 0 { angle } else { -angle }
}

pub(super) fn acos(x: f64) -> f64 {
    let size = magnitude(x);
    if size >= ONE_HIGH {
        return match x {
            1.0 => 0.0,
            -1.0 => PI + 2.0 * HALF_PI_REST,
            _ => f64::NAN,
        };
    }
    if size < 0x3fe0_0000 {
        if size <= 0x3c60_0000 {
            return FRAC_PI_2 + HALF_PI_REST;
        }
        return FRAC_PI_2 - (x - (HALF_PI_REST - x * ratio(x * x)));
    }
    let square = (1.0 - x.abs()) * 0.5;
    let root = square.sqrt();
    if high(x) < 0 {
        return PI - 2.0 * (root + (ratio(square) * root - HALF_PI_REST));
    }
    let start = head(root);
    let left = (square - start * start) / (root + start);
    2.0 * (start + (ratio(square) * root + left))
}

const ATAN_EVEN: [f64; 6] = [
    3.333_333_333_333_293e-1,
    1.428_571_427_250_346_6e-1,
    9.090_887_133_436_507e-2,
    6.661_073_137_387_531e-2,
    4.976_877_994_615_932e-2,
    1.628_582_011_536_578_2e-2,
];
const ATAN_ODD: [f64; 5] = [
    -1.999_999_999_987_648_3e-1,
    -1.111_111_040_546_235_6e-1,
    -7.691_876_205_044_83e-2,
    -5.833_570_133_790_573_5e-2,
    -3.653_157_274_421_691_6e-2,
];
/// Arctangents of 1/2, 1, 3/2 and infinity, and the digits that follow.
const ANGLES: [(f64, f64); 4] = [
    (4.636_476_090_008_061e-1, 2.269_877_745_296_168_7e-17),
    (FRAC_PI_4, 3.061_616_997_868_383e-17),
    (9.827_937_232_473_29e-1, 1.390_331_103_123_099_8e-17),
    (FRAC_PI_2, HALF_PI_REST),
];

pub(super) fn atan(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let size = magnitude(x);
    if size >= 0x4410_0000 {
        return (FRAC_PI_2 + HALF_PI_REST).copysign(x);
    }
    if size < 0x3e40_0000 {
        return x;
    }
    let positive = x.abs();
    let (angle, reduced) = match size {
        ..0x3fdc_0000 => (None, x),
        0x3fdc_0000..0x3fe6_0000 => (Some(ANGLES[0]), (2.0 * positive - 1.0) / (2.0 + positive)),
        0x3fe6_0000..0x3ff3_0000 => (Some(ANGLES[1]), (positive - 1.0) / (positive + 1.0)),
        0x3ff3_0000..0x4003_8000 => (Some(ANGLES[2]), (positive - 1.5) / (1.0 + 1.5 * positive)),
        _ => (Some(ANGLES[3]), -1.0 / positive),
    };
    let square = reduced * reduced;
    let fourth = square * square;
    let sum = square * polynomial(fourth, &ATAN_EVEN) + fourth * polynomial(fourth, &ATAN_ODD);
    match angle {
        None => reduced - reduced * sum,
        Some((angle, rest)) => (angle - ((reduced * sum - rest) - reduced)).copysign(x),
    }
}

pub(super) fn atan2(y: f64, x: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == 1.0 {
        return atan(y);
    }
    let left = high(x) < 0;
    if y == 0.0 {
        return if left { PI.copysign(y) } else { y };
    }
    if x == 0.0 {
        return FRAC_PI_2.copysign(y);
    }
    if magnitude(x) == INFINITE_HIGH && low(x) == 0 {
        let angle = match (y.is_infinite(), left) {
            (true, false) => FRAC_PI_4,
            (true, true) => 3.0 * FRAC_PI_4,
            (false, false) => 0.0,
            (false, true) => PI,
        };
        return angle.copysign(y);
    }
    if y.is_infinite() {
        return FRAC_PI_2.copysign(y);
    }
    let steps = (magnitude(y) - magnitude(x)) >> 20;
    if steps > 60 {
        return (FRAC_PI_2 + 0.5 * PI_REST).copysign(y);
    }
    let angle = if left && steps < -60 { 0.0 } else { atan((y / x).abs()) };
    if left { (PI - (angle - PI_REST)).copysign(y) } else { angle.copysign(y) }
}
