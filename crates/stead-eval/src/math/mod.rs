//! Functions of `Math` with the digits of Node.js 20, on every platform.
//!
//! The language leaves the last digits of these functions open, and the C library that the engine would call differs between
//! platforms. V8 computes them with the algorithms of fdlibm (Sun Microsystems, 1993); so does this module, with the same
//! constants and the same order of operations, because each rounding counts.

mod bits;
mod exponential;
mod inverse;
mod logarithm;
mod power;
mod reduce;
mod trigonometric;

pub(crate) use power::pow;

type Unary = (&'static str, fn(f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);

/// Functions of one number, by their names in `Math`.
pub(crate) const UNARY: [Unary; 19] = [
    ("acos", inverse::acos),
    ("acosh", logarithm::acosh),
    ("asin", inverse::asin),
    ("asinh", logarithm::asinh),
    ("atan", inverse::atan),
    ("atanh", logarithm::atanh),
    ("cbrt", power::cbrt),
    ("cos", trigonometric::cos),
    ("cosh", exponential::cosh),
    ("exp", exponential::exp),
    ("expm1", exponential::expm1),
    ("log", logarithm::log),
    ("log10", logarithm::log10),
    ("log1p", logarithm::log1p),
    ("log2", logarithm::log2),
    ("sin", trigonometric::sin),
    ("sinh", exponential::sinh),
    ("tan", trigonometric::tan),
    ("tanh", exponential::tanh),
];

/// Functions of two numbers.
pub(crate) const BINARY: [Binary; 2] = [("atan2", inverse::atan2), ("pow", power::pow)];

#[cfg(test)]
mod tests {
    use super::{BINARY, UNARY};

    /// Lines of a name, the arguments and the result that Node.js 20.20.2 gives, as bits.
    const VECTORS: &str = include_str!("../../tests/eval/node/math.txt");

    fn number(bits: &str) -> f64 {
        f64::from_bits(u64::from_str_radix(bits, 16).expect("bits in hexadecimal"))
    }

    fn compute(name: &str, arguments: &[f64]) -> f64 {
        if let [x] = arguments {
            let (_, function) =
                UNARY.iter().find(|(known, _)| *known == name).expect("a function of one number");
            return function(*x);
        }
        let (_, function) =
            BINARY.iter().find(|(known, _)| *known == name).expect("a function of two numbers");
        function(arguments[0], arguments[1])
    }

    #[test]
    fn every_function_has_the_bits_of_node() {
        for line in VECTORS.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let numbers: Vec<f64> = words[1..].iter().map(|word| number(word)).collect();
            let (expected, arguments) = numbers.split_last().expect("a result");
            let result = compute(words[0], arguments);
            let same = result.to_bits() == expected.to_bits() || (result.is_nan() && expected.is_nan());
            assert!(same, "{line}: {result:e} instead of {expected:e}");
        }
    }

    #[test]
    fn every_function_has_vectors() {
        let names = UNARY.iter().map(|(name, _)| name).chain(BINARY.iter().map(|(name, _)| name));
        for name in names {
            assert!(
                VECTORS.lines().filter(|line| line.split(' ').next() == Some(*name)).count() >= 20,
                "{name}"
            );
        }
    }
}
