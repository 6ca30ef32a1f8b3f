//! Exponential functions, and the hyperbolic functions that use them.

use super::bits::{from_halves, high, magnitude, polynomial, power_of_two};

/// ln 2 in two parts; the first has zeros at its end, so that small multiples of it are exact.
pub(super) const LN2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
const ONE_OVER_LN2: f64 = std::f64::consts::LOG2_E;
const LARGEST: f64 = 7.097_827_128_933_84e2;
const SMALLEST: f64 = -7.451_332_191_019_411e2;

/// Coefficients of `r (e^r + 1) / (e^r - 1) - 2` in powers of `r²`.
pub(super) const EXP: [f64; 5] = [
    1.666_666_666_666_660_2e-1,
    -2.777_777_777_701_559_3e-3,
    6.613_756_321_437_934e-5,
    -1.653_390_220_546_525_2e-6,
    4.138_136_797_057_238_5e-8,
];

/// An argument without its multiple of ln 2.
struct Reduced {
    /// Multiple of ln 2.
    times: i32,
    start: f64,
    end: f64,
}

/// Reduces an argument above ln 2 / 2.
fn reduce(x: f64) -> Reduced {
    if magnitude(x) < 0x3ff0_a2b2 {
        let sign = 1.0_f64.copysign(x);
        return Reduced { times: sign as i32, start: x - sign * LN2.0, end: sign * LN2.1 };
    }
    let times = (ONE_OVER_LN2 * x + 0.5_f64.copysign(x)) as i32;
    let count = f64::from(times);
    Reduced { times, start: x - count * LN2.0, end: count * LN2.1 }
}

pub(super) fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x > LARGEST {
        return f64::INFINITY;
    }
    if x < SMALLEST {
        return 0.0;
    }
    if x == 1.0 {
        return std::f64::consts::E;
    }
    let size = magnitude(x);
    if size < 0x3e30_0000 {
        return 1.0 + x;
    }
    let correct = |r: f64| {
        let square = r * r;
        r - square * polynomial(square, &EXP)
    };
    if size <= 0x3fd6_2e42 {
        let c = correct(x);
        return 1.0 - ((x * c) / (c - 2.0) - x);
    }
    let Reduced { times, start, end } = reduce(x);
    let r = start - end;
    let c = correct(r);
    let result = 1.0 - ((end - (r * c) / (2.0 - c)) - start);
    match times {
        1024 => result * 2.0 * power_of_two(1023),
        -1021.. => result * power_of_two(times),
        _ => result * power_of_two(times + 1000) * power_of_two(-1000),
    }
}

const EXPM1: [f64; 6] = [
    1.0,
    -3.333_333_333_333_313e-2,
    1.587_301_587_254_814_6e-3,
    -7.936_507_578_674_88e-5,
    4.008_217_827_329_362e-6,
    -2.010_992_181_836_243_7e-7,
];

pub(super) fn expm1(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let size = magnitude(x);
    if size >= 0x4043_687a && x < 0.0 {
        return -1.0;
    }
    if x > LARGEST {
        return f64::INFINITY;
    }
    if size < 0x3c90_0000 {
        return x;
    }
    if size <= 0x3fd6_2e42 {
        let (error, half_square) = expm1_error(x);
        return x - (x * error - half_square);
    }
    let Reduced { times, start, end } = reduce(x);
    let r = start - end;
    let left = (start - r) - end;
    let (error, half_square) = expm1_error(r);
    let error = (r * (error - left) - left) - half_square;
    match times {
        -1 => 0.5 * (r - error) - 0.5,
        1 if r < -0.25 => -2.0 * (error - (r + 0.5)),
        1 => 1.0 + 2.0 * (r - error),
        1024 => (1.0 - (error - r)) * 2.0 * power_of_two(1023) - 1.0,
        ..=-2 | 57.. => (1.0 - (error - r)) * power_of_two(times) - 1.0,
        ..20 => (from_halves(0x3ff0_0000 - (0x0020_0000 >> times), 0) - (error - r)) * power_of_two(times),
        _ => ((r - (error + power_of_two(-times))) + 1.0) * power_of_two(times),
    }
}

fn expm1_error(r: f64) -> (f64, f64) {
    let half = 0.5 * r;
    let half_square = r * half;
    let ratio = polynomial(half_square, &EXPM1);
    let t = 3.0 - ratio * half;
    (half_square * ((ratio - t) / (6.0 - r * t)), half_square)
}

/// From here on the exponential function overflows, but half of it does not.
const LARGEST_HIGH: i32 = 0x4086_2e42;
const HYPERBOLIC_LARGEST: f64 = 710.475_860_073_943_9;

pub(super) fn cosh(x: f64) -> f64 {
    let size = magnitude(x);
    let x = x.abs();
    if size < 0x3fd6_2e43 {
        let t = expm1(x);
        let w = 1.0 + t;
        return if size < 0x3c80_0000 { w } else { 1.0 + (t * t) / (w + w) };
    }
    if size < 0x4036_0000 {
        let t = exp(x);
        return 0.5 * t + 0.5 / t;
    }
    if size < LARGEST_HIGH {
        return 0.5 * exp(x);
    }
    if x <= HYPERBOLIC_LARGEST {
        let w = exp(0.5 * x);
        return 0.5 * w * w;
    }
    if x.is_nan() { x } else { f64::INFINITY }
}

pub(super) fn sinh(x: f64) -> f64 {
    let half = if x < 0.0 { -0.5 } else { 0.5 };
    let positive = x.abs();
    if positive < 22.0 {
        if positive < power_of_two(-28) {
            return x;
        }
        let t = expm1(positive);
        let sum = if positive < 1.0 { 2.0 * t - t * t / (t + 1.0) } else { t + t / (t + 1.0) };
        return half * sum;
    }
    if positive < from_halves(LARGEST_HIGH, 0) {
        return half * exp(positive);
    }
    if positive <= HYPERBOLIC_LARGEST {
        let w = exp(0.5 * positive);
        return half * w * w;
    }
    x * 1.0e307
}

pub(super) fn tanh(x: f64) -> f64 {
    let size = magnitude(x);
    if x.is_nan() || size < 0x3e30_0000 {
        return x;
    }
    let result = match size {
        0x4036_0000.. => 1.0,
        0x3ff0_0000.. => 1.0 - 2.0 / (expm1(2.0 * x.abs()) + 2.0),
        _ => {
            let t = expm1(-2.0 * x.abs());
            -t / (t + 2.0)
        }
    };
    if high(x) >= 0 { result } else { -result }
}
