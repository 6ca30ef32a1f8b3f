//! Subtracts multiples of π/2 from the argument of a trigonometric function.

use super::bits::{high, low, magnitude, power_of_two};

/// The argument without its multiple of π/2, as a sum of two doubles, and the last bits of that multiple.
pub(super) struct Reduced {
    pub(super) quarter: i32,
    pub(super) value: f64,
    pub(super) rest: f64,
}

/// π/2 in parts of 33 bits, each with the double nearest to the rest.
const PARTS: [(f64, f64); 3] = [
    (1.570_796_326_734_125_6, 6.077_100_506_506_192e-11),
    (6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21),
    (2.022_266_248_711_166_5e-21, 8.478_427_660_368_9e-32),
];
const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;

/// Reduces a finite argument above π/4.
pub(super) fn reduce(x: f64) -> Reduced {
    let size = magnitude(x);
    let reduced = if size < 0x4002_d97c {
        reduce_once(x.abs(), size)
    } else if size <= 0x4139_21fb {
        reduce_medium(x.abs(), size)
    } else {
        reduce_large(x)
    };
    if high(x) < 0 {
        return Reduced { quarter: -reduced.quarter, value: -reduced.value, rest: -reduced.rest };
    }
    reduced
}

/// Reduces an argument below 3π/4.
fn reduce_once(x: f64, size: i32) -> Reduced {
    let mut start = x - PARTS[0].0;
    let mut tail = PARTS[0].1;
    if size == 0x3ff9_21fb {
        start -= PARTS[1].0;
        tail = PARTS[1].1;
    }
    let value = start - tail;
    Reduced { quarter: 1, value, rest: (start - value) - tail }
}

/// Reduces an argument up to 2^19 π/2. Subtracts more parts of π/2 if too many bits cancel out.
fn reduce_medium(x: f64, size: i32) -> Reduced {
    let quarter = (x * TWO_OVER_PI + 0.5) as i32;
    let times = f64::from(quarter);
    let exponent = size >> 20;
    let lost = |value: f64| exponent - ((high(value) >> 20) & 0x7ff);
    let mut start = x - times * PARTS[0].0;
    let mut tail = times * PARTS[0].1;
    let mut value = start - tail;
    let near_multiple = quarter >= 32 || size == multiple_high(quarter);
    if near_multiple {
        for ((part, next), enough) in PARTS[1..].iter().zip([16, 49]) {
            if lost(value) <= enough {
                break;
            }
            let before = start;
            let product = times * part;
            start = before - product;
            tail = times * next - ((before - start) - product);
            value = start - tail;
        }
    }
    Reduced { quarter, value, rest: (start - value) - tail }
}

/// Returns the high half of a multiple of π/2.
fn multiple_high(quarter: i32) -> i32 {
    high(f64::from(quarter) * std::f64::consts::FRAC_PI_2)
}

/// Digits of 2/π in base 2^24.
const TWO_OVER_PI_DIGITS: [i32; 66] = [
    0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb,
    0xc561b7, 0x246e3a, 0x424dd2, 0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5,
    0x2ebb44, 0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928, 0x3b1ff8,
    0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09, 0xb74f46, 0x3f669e, 0x5fea2d,
    0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292, 0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b,
    0x6babf0, 0xcfbc20, 0x9af436, 0x1da9e3, 0x91615e, 0xe61b08, 0x659985, 0x5f14a0, 0x68408d, 0xffd880,
    0x4d7327, 0x310606, 0x1556ca, 0x73a8c9, 0x60e27b, 0xc08c6b,
];

/// π/2 in parts of 24 bits.
const HALF_PI: [f64; 5] = [
    1.570_796_251_296_997,
    7.549_789_415_861_596e-8,
    5.390_302_529_957_765e-15,
    3.282_003_415_807_913e-22,
    1.270_655_753_080_676e-29,
];
const TWO_24: f64 = 16_777_216.0;
/// Digits of the product that are computed first; more follow if they turn out to be zero.
const FIRST_DIGITS: usize = 4;

/// Product of an argument and 2/π, of which only the part below 8 is computed.
struct Product {
    /// Argument in parts of 24 bits.
    parts: [f64; 3],
    /// First digit of 2/π that matters.
    first: usize,
    /// Sums of the products of parts and digits.
    sums: [f64; 20],
    /// The same in base 2^24, lowest first.
    digits: [i32; 20],
    /// Index of the last digit.
    last: usize,
    /// Exponent of the highest digit.
    exponent: i32,
}

fn reduce_large(x: f64) -> Reduced {
    let exponent = (magnitude(x) >> 20) - 1046;
    let scaled = super::bits::from_halves(magnitude(x) - (exponent << 20), low(x));
    let mut product = Product::new(scaled, exponent);
    loop {
        let mut fraction = product.carry();
        let quarter = fraction as i32;
        fraction -= f64::from(quarter);
        let (quarter, half) = product.split(quarter, fraction);
        let fraction = if half > 0 { product.complement(half, fraction) } else { fraction };
        let quarter = if half > 0 { quarter + 1 } else { quarter };
        if fraction == 0.0 && product.extend() {
            continue;
        }
        product.store_fraction(fraction);
        let (value, rest) = product.times_half_pi();
        let sign = if half == 0 { 1.0 } else { -1.0 };
        return Reduced { quarter: quarter & 7, value: sign * value, rest: sign * rest };
    }
}

impl Product {
    fn new(mut scaled: f64, exponent: i32) -> Product {
        let mut parts = [0.0; 3];
        for part in &mut parts[..2] {
            *part = scaled.trunc();
            scaled = (scaled - *part) * TWO_24;
        }
        parts[2] = scaled;
        let first = ((exponent - 3) / 24).max(0);
        let mut product = Product {
            parts,
            first: first as usize,
            sums: [0.0; 20],
            digits: [0; 20],
            last: FIRST_DIGITS,
            exponent: exponent - 24 * (first + 1),
        };
        for index in 0..=FIRST_DIGITS {
            product.sums[index] = product.sum(index);
        }
        product
    }

    /// Adds the products that belong to one digit.
    fn sum(&self, index: usize) -> f64 {
        let at = self.first + index;
        let terms = self.parts.iter().enumerate();
        terms.fold(0.0, |sum, (part, value)| match at.checked_sub(part) {
            Some(digit) => sum + value * f64::from(TWO_OVER_PI_DIGITS[digit]),
            None => sum,
        })
    }

    /// Moves carries from the sums to the digits, and returns the highest sum modulo 8.
    fn carry(&mut self) -> f64 {
        let mut sum = self.sums[self.last];
        for (index, above) in (0..self.last).rev().enumerate() {
            let carried = (sum / TWO_24).trunc();
            self.digits[index] = (sum - TWO_24 * carried) as i32;
            sum = self.sums[above] + carried;
        }
        let sum = sum * power_of_two(self.exponent);
        sum - 8.0 * (sum * 0.125).floor()
    }

    /// Moves the integer bits of the highest digit to the quarter. The second number is positive if the fraction is at least a half.
    fn split(&mut self, mut quarter: i32, fraction: f64) -> (i32, i32) {
        let highest = &mut self.digits[self.last - 1];
        if self.exponent > 0 {
            let bits = *highest >> (24 - self.exponent);
            quarter += bits;
            *highest -= bits << (24 - self.exponent);
            return (quarter, *highest >> (23 - self.exponent));
        }
        if self.exponent == 0 {
            return (quarter, *highest >> 23);
        }
        (quarter, if fraction >= 0.5 { 2 } else { 0 })
    }

    /// Replaces the fraction by its difference to one.
    fn complement(&mut self, half: i32, fraction: f64) -> f64 {
        let mut borrowed = false;
        for digit in &mut self.digits[..self.last] {
            if borrowed {
                *digit = 0xff_ffff - *digit;
            } else if *digit != 0 {
                borrowed = true;
                *digit = 0x100_0000 - *digit;
            }
        }
        if self.exponent > 0 {
            self.digits[self.last - 1] &= 0xff_ffff >> self.exponent;
        }
        if half != 2 {
            return fraction;
        }
        let fraction = 1.0 - fraction;
        if borrowed { fraction - power_of_two(self.exponent) } else { fraction }
    }

    /// Computes more digits if the first ones are zero; returns false if they are not.
    fn extend(&mut self) -> bool {
        if self.digits[FIRST_DIGITS..self.last].iter().any(|digit| *digit != 0) {
            return false;
        }
        let zeros = self.digits[..FIRST_DIGITS].iter().rev().take_while(|digit| **digit == 0).count();
        let more = zeros + 1;
        for index in self.last + 1..=self.last + more {
            self.sums[index] = self.sum(index);
        }
        self.last += more;
        true
    }

    /// Drops zero digits, or stores the rest of the highest sum.
    fn store_fraction(&mut self, fraction: f64) {
        if fraction == 0.0 {
            loop {
                self.last -= 1;
                self.exponent -= 24;
                if self.digits[self.last] != 0 {
                    return;
                }
            }
        }
        let fraction = fraction * power_of_two(-self.exponent);
        if fraction < TWO_24 {
            self.digits[self.last] = fraction as i32;
            return;
        }
        let above = (fraction / TWO_24).trunc();
        self.digits[self.last] = (fraction - TWO_24 * above) as i32;
        self.last += 1;
        self.exponent += 24;
        self.digits[self.last] = above as i32;
    }

    fn times_half_pi(&self) -> (f64, f64) {
        let last = self.last;
        let mut values = [0.0; 20];
        let mut scale = power_of_two(self.exponent);
        for index in (0..=last).rev() {
            values[index] = scale * f64::from(self.digits[index]);
            scale /= TWO_24;
        }
        let mut terms = [0.0; 20];
        for index in (0..=last).rev() {
            let pairs = HALF_PI.iter().zip(&values[index..=last]);
            terms[last - index] = pairs.fold(0.0, |sum, (part, value)| sum + part * value);
        }
        let value = terms[..=last].iter().rev().fold(0.0, |sum, term| sum + term);
        let rest = terms[1..=last].iter().fold(terms[0] - value, |sum, term| sum + term);
        (value, rest)
    }
}
