//! Bundle of all published types in one file: an index and compressed blocks of reduced schemas (see `facts`).
//!
//! Reading one type inflates one block. The bundle is not opened before the first read.
//!
//! Layout: a line with the length of the index, the index, then the blocks in order. The index (`Index` as JSON) and the
//! blocks (JSON documents) are zlib streams.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use stead_model::Value;

use super::parse::parse_facts;
use super::{Schema, SchemaError, facts};

/// Bundle that ships with stead.
static SHIPPED: &[u8] = include_bytes!("../../data/aws-types.bundle");

/// Size at which a block is closed, in bytes: small enough to inflate quickly, large enough that the types of one
/// service compress together.
const BLOCK: usize = 32 << 10;

/// Source of the types in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Package that published the schemas, and its version.
    pub package: String,
    pub version: String,
    /// Date at which the package took the schemas from AWS.
    pub date: String,
}

#[derive(Serialize, Deserialize)]
struct Index {
    origin: Origin,
    /// Compressed size of each block, in order.
    blocks: Vec<usize>,
    /// Type name, block, offset in the block, length. Sorted by type name.
    types: Vec<(String, usize, usize, usize)>,
}

/// Published types by name.
pub struct Bundle {
    index: Index,
    /// Offset of each block in `bytes`.
    starts: Vec<usize>,
    bytes: &'static [u8],
}

/// Returns the types that ship with stead. The first call reads the index.
pub fn shipped() -> &'static Bundle {
    static BUNDLE: std::sync::OnceLock<Bundle> = std::sync::OnceLock::new();
    BUNDLE.get_or_init(|| Bundle::open(SHIPPED).unwrap_or_else(Bundle::empty))
}

impl Bundle {
    /// Reads the index of a bundle, or returns `None` if the bytes are not a bundle.
    pub fn open(bytes: &'static [u8]) -> Option<Bundle> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let length: usize = std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()?;
        let mut at = (end + 1).checked_add(length)?;
        let index: Index = serde_json::from_slice(&inflate(bytes.get(end + 1..at)?)?).ok()?;
        let starts = index
            .blocks
            .iter()
            .map(|length| {
                at += length;
                at - length
            })
            .collect();
        (at == bytes.len()).then_some(Bundle { index, starts, bytes })
    }

    fn empty() -> Bundle {
        let origin = Origin { package: String::new(), version: String::new(), date: String::new() };
        Bundle {
            index: Index { origin, blocks: Vec::new(), types: Vec::new() },
            starts: Vec::new(),
            bytes: &[],
        }
    }

    pub fn origin(&self) -> &Origin {
        &self.index.origin
    }

    /// Returns all type names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.index.types.iter().map(|(name, ..)| name.as_str())
    }

    /// Returns the reduced schema of one type, or `None` if the bundle does not have the type.
    pub fn document(&self, type_name: &str) -> Option<Value> {
        let at = self.index.types.binary_search_by(|(name, ..)| name.as_str().cmp(type_name)).ok()?;
        let (_, block, start, length) = &self.index.types[at];
        let compressed =
            self.bytes.get(*self.starts.get(*block)?..)?.get(..*self.index.blocks.get(*block)?)?;
        serde_json::from_slice(inflate(compressed)?.get(*start..start + length)?).ok()
    }

    pub fn schema(&self, type_name: &str) -> Option<Schema> {
        parse_facts(&self.document(type_name)?).ok()
    }
}

/// Builds a bundle from published schemas. The same schemas give the same bytes.
pub fn make(origin: Origin, mut published: Vec<Value>) -> Result<Vec<u8>, SchemaError> {
    published.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    let mut index = Index { origin, blocks: Vec::new(), types: Vec::new() };
    let (mut blocks, mut block) = (Vec::new(), Vec::new());
    for document in &published {
        let facts = facts(document);
        let name = parse_facts(&facts)?.type_name;
        let text = facts.to_json();
        index.types.push((name, index.blocks.len(), block.len(), text.len()));
        block.extend_from_slice(text.as_bytes());
        if block.len() >= BLOCK {
            close(&mut index, &mut blocks, &mut block)?;
        }
    }
    if !block.is_empty() {
        close(&mut index, &mut blocks, &mut block)?;
    }
    let index = deflate(&serde_json::to_vec(&index).map_err(|error| SchemaError(error.to_string()))?)?;
    let mut bytes = format!("{}\n", index.len()).into_bytes();
    bytes.extend(index);
    bytes.extend(blocks);
    Ok(bytes)
}

fn close(index: &mut Index, blocks: &mut Vec<u8>, block: &mut Vec<u8>) -> Result<(), SchemaError> {
    let compressed = deflate(block)?;
    index.blocks.push(compressed.len());
    blocks.extend(compressed);
    block.clear();
    Ok(())
}

pub(super) fn deflate(bytes: &[u8]) -> Result<Vec<u8>, SchemaError> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    compressed.map_err(|error| SchemaError(error.to_string()))
}

pub(super) fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    ZlibDecoder::new(bytes).take(1 << 28).read_to_end(&mut text).ok()?;
    Some(text)
}

fn name_of(document: &Value) -> &str {
    document.as_map().and_then(|map| map.get("typeName")).and_then(Value::as_str).unwrap_or_default()
}
