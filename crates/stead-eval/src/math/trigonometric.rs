//! Sine, cosine and tangent.

use super::bits::{from_halves, head, high, magnitude, polynomial};
use super::reduce::{Reduced, reduce};

/// High half of π/4: up to here no reduction is needed.
const QUARTER_PI_HIGH: i32 = 0x3fe9_21fb;
const INFINITE_HIGH: i32 = 0x7ff0_0000;

pub(super) fn sin(x: f64) -> f64 {
    let size = magnitude(x);
    if size <= QUARTER_PI_HIGH {
        return sin_near_zero(x);
    }
    if size >= INFINITE_HIGH {
        return f64::NAN;
    }
    let Reduced { quarter, value, rest } = reduce(x);
    match quarter & 3 {
        0 => sin_of_sum(value, rest),
        1 => cos_of_sum(value, rest),
        2 => -sin_of_sum(value, rest),
        _ => -cos_of_sum(value, rest),
    }
}

pub(super) fn cos(x: f64) -> f64 {
    let size = magnitude(x);
    if size <= QUARTER_PI_HIGH {
        return cos_of_sum(x, 0.0);
    }
    if size >= INFINITE_HIGH {
        return f64::NAN;
    }
    let Reduced { quarter, value, rest } = reduce(x);
    match quarter & 3 {
        0 => cos_of_sum(value, rest),
        1 => -sin_of_sum(value, rest),
        2 => -cos_of_sum(value, rest),
        _ => sin_of_sum(value, rest),
    }
}

pub(super) fn tan(x: f64) -> f64 {
    let size = magnitude(x);
    if size <= QUARTER_PI_HIGH {
        return tan_of_sum(x, 0.0, Tangent::Plain);
    }
    if size >= INFINITE_HIGH {
        return f64::NAN;
    }
    let Reduced { quarter, value, rest } = reduce(x);
    tan_of_sum(value, rest, if quarter & 1 == 0 { Tangent::Plain } else { Tangent::NegativeInverse })
}

const SIN_FIRST: f64 = -1.666_666_666_666_663_2e-1;
const SIN: [f64; 5] = [
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

fn sin_near_zero(x: f64) -> f64 {
    if magnitude(x) < 0x3e40_0000 {
        return x;
    }
    let square = x * x;
    x + square * x * (SIN_FIRST + square * polynomial(square, &SIN))
}

fn sin_of_sum(x: f64, rest: f64) -> f64 {
    if magnitude(x) < 0x3e40_0000 {
        return x;
    }
    let square = x * x;
    let cube = square * x;
    x - ((square * (0.5 * rest - cube * polynomial(square, &SIN)) - rest) - cube * SIN_FIRST)
}

const COS: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

fn cos_of_sum(x: f64, rest: f64) -> f64 {
    let size = magnitude(x);
    if size < 0x3e40_0000 {
        return 1.0;
    }
    let square = x * x;
    let more = square * polynomial(square, &COS);
    let correction = square * more - x * rest;
    if size < 0x3fd3_3333 {
        return 1.0 - (0.5 * square - correction);
    }
    // About x / 4, which is subtracted from both terms to keep their digits.
    let shift = if size > 0x3fe9_0000 { 0.28125 } else { from_halves(size - 0x0020_0000, 0) };
    (1.0 - shift) - ((0.5 * square - shift) - correction)
}

#[derive(Clone, Copy, PartialEq)]
enum Tangent {
    Plain,
    NegativeInverse,
}

const TAN_FIRST: f64 = 3.333_333_333_333_341e-1;
const TAN_ODD: [f64; 6] = [
    1.333_333_333_332_012_4e-1,
    2.186_948_829_485_954_2e-2,
    3.592_079_107_591_312_4e-3,
    5.880_412_408_202_641e-4,
    7.817_944_429_395_571e-5,
    -1.855_863_748_552_754_6e-5,
];
const TAN_EVEN: [f64; 6] = [
    5.396_825_397_622_605e-2,
    8.863_239_823_599_3e-3,
    1.456_209_454_325_290_3e-3,
    2.464_631_348_184_699e-4,
    7.140_724_913_826_082e-5,
    2.590_730_518_636_337e-5,
];
const QUARTER_PI: (f64, f64) = (std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17);

fn tan_of_sum(x: f64, rest: f64, which: Tangent) -> f64 {
    let size = magnitude(x);
    if size < 0x3e30_0000 {
        return match which {
            Tangent::Plain => x,
            Tangent::NegativeInverse => negative_inverse(x, rest),
        };
    }
    let near_quarter = size >= 0x3fe5_9428;
    let negative = high(x) < 0;
    let (x, rest) = match (near_quarter, negative) {
        (false, _) => (x, rest),
        (true, false) => ((QUARTER_PI.0 - x) + (QUARTER_PI.1 - rest), 0.0),
        (true, true) => ((QUARTER_PI.0 + x) + (QUARTER_PI.1 + rest), 0.0),
    };
    let square = x * x;
    let fourth = square * square;
    let odd = polynomial(fourth, &TAN_ODD);
    let even = square * polynomial(fourth, &TAN_EVEN);
    let cube = square * x;
    let tail = rest + square * (cube * (odd + even) + rest) + TAN_FIRST * cube;
    let sum = x + tail;
    if near_quarter {
        let unit = if which == Tangent::Plain { 1.0 } else { -1.0 };
        let tangent = unit - 2.0 * (x - (sum * sum / (sum + unit) - tail));
        return if negative { -tangent } else { tangent };
    }
    match which {
        Tangent::Plain => sum,
        Tangent::NegativeInverse => negative_inverse(x, tail),
    }
}

/// Returns `-1 / (x + rest)` with more precision than a division.
fn negative_inverse(x: f64, rest: f64) -> f64 {
    let sum = x + rest;
    let start = head(sum);
    let left = rest - (start - x);
    let quotient = -1.0 / sum;
    let first = head(quotient);
    let error = 1.0 + first * start;
    first + quotient * (error + first * left)
}
