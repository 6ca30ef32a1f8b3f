//! Address ranges: `10.0.0.0/16`, `2001:db8::/32`. The results are those of Terraform's functions of the same purpose.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use stead_model::{Number, Value};

use super::{Tree, integer_at, text_at};

/// Largest number of ranges that `split` returns.
const MOST_RANGES: u32 = 16;

/// A range of addresses of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    /// First address as a number.
    start: u128,
    /// Number of fixed bits.
    prefix: u32,
    family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    fn bits(self) -> u32 {
        match self {
            Family::V4 => 32,
            Family::V6 => 128,
        }
    }

    fn address(self, number: u128) -> String {
        match self {
            Family::V4 => Ipv4Addr::from(number as u32).to_string(),
            Family::V6 => Ipv6Addr::from(number).to_string(),
        }
    }
}

/// Returns a number whose lowest bits are ones.
fn ones(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

impl Range {
    /// Reads `address/prefix`. Bits of the address after the prefix are ignored.
    fn parse(text: &str) -> Result<Range, String> {
        let wrong = || format!("{text:?} is not an address range, such as \"10.0.0.0/16\"");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let (number, family) = parse_address(address).ok_or_else(wrong)?;
        let digits = !prefix.is_empty() && prefix.chars().all(|digit| digit.is_ascii_digit());
        let prefix: u32 = prefix.parse().ok().filter(|_| digits).ok_or_else(wrong)?;
        if prefix > family.bits() {
            return Err(format!("{text:?} has a prefix of more than {} bits", family.bits()));
        }
        Ok(Range { start: number & !ones(family.bits() - prefix), prefix, family })
    }

    fn last(&self) -> u128 {
        self.start | ones(self.family.bits() - self.prefix)
    }

    fn text(&self) -> String {
        format!("{}/{}", self.family.address(self.start), self.prefix)
    }

    /// Returns the prefix that is longer by some bits.
    fn extended(&self, bits: i128) -> Result<u32, String> {
        if bits < 0 {
            return Err(format!("the prefix cannot be extended by {bits} bits"));
        }
        let prefix = i128::from(self.prefix) + bits;
        if prefix > i128::from(self.family.bits()) {
            return Err(format!("a prefix of {} bits cannot be extended by {bits} bits", self.prefix));
        }
        Ok(prefix as u32)
    }
}

fn parse_address(text: &str) -> Option<(u128, Family)> {
    match text.parse().ok()? {
        IpAddr::V4(address) => Some((u128::from(u32::from(address)), Family::V4)),
        IpAddr::V6(address) => Some((u128::from(address), Family::V6)),
    }
}

fn range(arguments: &[Value], index: usize) -> Result<Range, String> {
    Range::parse(text_at(arguments, index, "an address range")?)
}

pub(super) fn subnet(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    let prefix = base.extended(integer_at(arguments, 1, "the number of new bits")?)?;
    let number = integer_at(arguments, 2, "the number of the subnet")?;
    let new_bits = prefix - base.prefix;
    match u128::try_from(number).ok().filter(|number| *number <= ones(new_bits)) {
        // Without new bits the only subnet is the range itself, and no bits may be shifted out.
        Some(0) => Ok(Range { prefix, ..base }.text().into()),
        Some(number) => {
            let start = base.start | number << (base.family.bits() - prefix);
            Ok(Range { start, prefix, ..base }.text().into())
        }
        None => Err(format!("{new_bits} new bits have no subnet with the number {number}")),
    }
}

/// Returns consecutive ranges, one for each number of new bits. Each starts at the next possible address.
pub(super) fn subnets(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    let mut next = Some(base.start);
    let mut all = Vec::new();
    for index in 1..arguments.len() {
        let bits = integer_at(arguments, index, "a number of new bits")?;
        if bits < 1 {
            return Err("a subnet must have at least one new bit".to_owned());
        }
        let prefix = base.extended(bits)?;
        let size = ones(base.family.bits() - prefix);
        // The next address that is a multiple of the size.
        let start =
            next.and_then(|next| if next & size == 0 { Some(next) } else { (next | size).checked_add(1) });
        let Some(start) = start.filter(|start| *start >= base.start && *start <= base.last()) else {
            let after = all.last().map(|last: &Range| format!(" after {}", last.text())).unwrap_or_default();
            return Err(format!("{} has no room for a subnet of {prefix} bits{after}", base.text()));
        };
        next = (start | size).checked_add(1);
        all.push(Range { start, prefix, family: base.family });
    }
    Ok(Tree::List(all.iter().map(|range| range.text().into()).collect()))
}

/// Returns all subnets with some new bits.
pub(super) fn split(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    let prefix = base.extended(integer_at(arguments, 1, "the number of new bits")?)?;
    let bits = prefix - base.prefix;
    if bits > MOST_RANGES {
        return Err(format!("{bits} new bits make more than {} subnets", 1 << MOST_RANGES));
    }
    let width = base.family.bits() - prefix;
    let one = |number: u128| {
        let start = base.start | number.checked_shl(width).unwrap_or(0);
        Tree::from(Range { start, prefix, ..base }.text())
    };
    Ok(Tree::List((0..1_u128 << bits).map(one).collect()))
}

/// Returns a range or a single address.
fn range_or_address(arguments: &[Value], index: usize) -> Result<Range, String> {
    let text = text_at(arguments, index, "an address or a range")?;
    match parse_address(text) {
        Some((start, family)) => Ok(Range { start, prefix: family.bits(), family }),
        None => Range::parse(text),
    }
}

pub(super) fn contains(arguments: &[Value]) -> Result<Tree, String> {
    let (outer, inner) = (range(arguments, 0)?, range_or_address(arguments, 1)?);
    let inside = outer.start <= inner.start && inner.last() <= outer.last();
    Ok(Value::Bool(outer.family == inner.family && inside).into())
}

pub(super) fn overlaps(arguments: &[Value]) -> Result<Tree, String> {
    let (one, other) = (range(arguments, 0)?, range(arguments, 1)?);
    let common = one.start <= other.last() && other.start <= one.last();
    Ok(Value::Bool(one.family == other.family && common).into())
}

/// Returns an address by its number; a negative number counts from the end.
pub(super) fn host(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    let number = integer_at(arguments, 1, "the number of the host")?;
    let most = ones(base.family.bits() - base.prefix);
    let missing = || format!("{} has no host with the number {number}", base.text());
    let offset = match u128::try_from(number) {
        Ok(number) => number,
        Err(_) => most.checked_sub((-(number + 1)) as u128).ok_or_else(missing)?,
    };
    if offset > most { Err(missing()) } else { Ok(base.family.address(base.start + offset).into()) }
}

pub(super) fn netmask(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    match base.family {
        Family::V4 => Ok(base.family.address(ones(32) & !ones(32 - base.prefix)).into()),
        Family::V6 => Err(format!("{} is an IPv6 range, which has no netmask", base.text())),
    }
}

pub(super) fn first(arguments: &[Value]) -> Result<Tree, String> {
    range(arguments, 0).map(|base| base.family.address(base.start).into())
}

pub(super) fn last(arguments: &[Value]) -> Result<Tree, String> {
    range(arguments, 0).map(|base| base.family.address(base.last()).into())
}

/// Returns the number of addresses, if a JavaScript number can hold it exactly.
pub(super) fn size(arguments: &[Value]) -> Result<Tree, String> {
    let base = range(arguments, 0)?;
    let bits = base.family.bits() - base.prefix;
    if bits > 53 {
        return Err(format!(
            "{} has 2^{bits} addresses, which is more than a number can hold exactly",
            base.text()
        ));
    }
    Ok(Tree::Value(Value::Number(Number::from_u64(1 << bits))))
}
