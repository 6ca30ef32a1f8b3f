//! Keys are overwritten when they are dropped: the whole memory of this process is searched for them.
//!
//! Each step runs on a thread of its own, whose stack the system takes back. What is left of a key is then in memory that was freed and
//! not overwritten. The expected bytes are computed or masked, so that the search does not find itself.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests use the real machine")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use stead_model::{Binding, Crypter as _, Keyring};
use stead_secrets::{
    DataKey, KeyManager, PassphraseManager, PassphraseSource, ProcessManager, create, new_identity, unlock,
};
use stead_world::{Entropy, World};
use zeroize::{Zeroize as _, Zeroizing};

/// Differs from every byte that a key has at its place, so that a masked key is not the key.
const MASK: u8 = 0xa5;

/// A key that the search looks for, without having it in memory.
#[derive(Clone)]
struct Sought {
    name: &'static str,
    masked: Vec<u8>,
}

impl Sought {
    fn new(name: &'static str, bytes: &[u8]) -> Sought {
        Sought { name, masked: bytes.iter().map(|byte| byte ^ MASK).collect() }
    }

    fn is_at(&self, window: &[u8]) -> bool {
        window.len() >= self.masked.len()
            && self.masked.iter().zip(window).all(|(masked, byte)| masked ^ MASK == *byte)
    }

    /// Returns the key that this entropy gave with its n-th call.
    fn drawn(name: &'static str, call: u64, length: usize) -> Sought {
        Sought { name, masked: (0..length).map(|at| drawn(call, at) ^ MASK).collect() }
    }

    /// Returns the key that is derived from the n-th drawn one.
    fn derived(name: &'static str, call: u64, label: &[u8]) -> Sought {
        let key: Zeroizing<Vec<u8>> = Zeroizing::new((0..32).map(|at| drawn(call, at)).collect());
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(label);
        let mut bytes = mac.finalize().into_bytes();
        let sought = Sought::new(name, &bytes);
        bytes.as_mut_slice().zeroize();
        sought
    }
}

/// Random numbers that the test knows.
#[derive(Default)]
struct Known(AtomicU64);

/// Returns a byte of the n-th call.
fn drawn(call: u64, at: usize) -> u8 {
    let mixed = (call * 64 + at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u8 ^ (mixed >> 56) as u8
}

impl Entropy for Known {
    fn fill(&self, bytes: &mut [u8]) -> io::Result<()> {
        let call = self.0.fetch_add(1, Ordering::Relaxed);
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = drawn(call, at));
        Ok(())
    }
}

fn world() -> World {
    World { entropy: Arc::new(Known::default()), ..World::in_memory([]) }
}

/// Returns the places in the memory of this process where one of the keys is.
fn found(all: &[Sought]) -> Vec<String> {
    const LONGEST: usize = 128;
    let (maps, memory) =
        (std::fs::read_to_string("/proc/self/maps").unwrap(), File::open("/proc/self/mem").unwrap());
    let mut part = vec![0; 1 << 16];
    let own = part.as_ptr() as u64;
    let own = own..own + part.len() as u64;
    let mut places = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        let (mut at, end) = (u64::from_str_radix(start, 16).unwrap(), u64::from_str_radix(end, 16).unwrap());
        while at < end {
            let length = part.len().min((end - at) as usize);
            // Some mappings of the system cannot be read.
            if memory.read_exact_at(&mut part[..length], at).is_err() {
                break;
            }
            for (offset, window) in part[..length].windows(1).enumerate() {
                let address = at + offset as u64;
                let here = |sought: &&Sought| {
                    sought.masked[0] ^ MASK == window[0] && sought.is_at(&part[offset..length])
                };
                if let Some(sought) = all.iter().find(here).filter(|_| !own.contains(&address)) {
                    places.push(format!("{} at {address:x} in {line}", sought.name));
                }
            }
            // Parts overlap, so that a key across two of them is found.
            at += if length < part.len() { length } else { length - LONGEST } as u64;
        }
    }
    part.zeroize();
    places
}

/// Runs a step on a thread of its own. The values that the step returns are dropped after the first search.
fn assert_overwritten<T>(sought: &[Sought], step: impl AsyncFnOnce() -> T + Send + 'static) {
    assert_eq!(found(sought), [""; 0], "before the step");
    let alive = sought.to_vec();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let made = runtime.block_on(step());
        let places = found(&alive);
        drop(made);
        places
    });
    let places = thread.join().unwrap();
    for key in sought {
        assert!(
            places.iter().any(|place| place.starts_with(key.name)),
            "{} is in memory while it is used",
            key.name
        );
    }
    assert_eq!(found(sought), [""; 0], "after the step");
}

#[test]
fn dropped_keys_are_nowhere_in_memory() {
    // The calls of the entropy in their order: the key of the first ring, the new key of the rotated one.
    let ring = [
        Sought::drawn("the first data key", 0, 32),
        Sought::derived("its key of encryption", 0, b"stead s1 encryption"),
        Sought::drawn("the second data key", 1, 32),
        Sought::derived("the second key of encryption", 1, b"stead s1 encryption"),
    ];
    assert_overwritten(&ring, async || {
        let world = world();
        let manager: Arc<dyn KeyManager> = Arc::new(ProcessManager::new("one", &DataKey::new([7; 32])));
        let managers = [manager];
        let first = create("stack:a", &managers, &world).await.unwrap();
        let second = first.rotate(&managers, &world).await.unwrap();
        let opened = unlock(second.ring(), "stack:a", &managers).await.unwrap();
        let binding = ["a", "b"];
        let sealed = opened.crypter().seal(b"value", Binding(&binding)).unwrap();
        assert_eq!(opened.crypter().open(&sealed, Binding(&binding)).unwrap(), b"value");
        (first.clone(), second, opened)
    });

    let wrapped = [
        Sought {
            name: "the passphrase",
            masked: wrapped_passphrase().map(|letter| letter as u8 ^ MASK).collect(),
        },
        Sought::drawn("the wrapped key", 6, 32),
    ];
    assert_overwritten(&wrapped, async || {
        let world = world();
        let mut text = String::with_capacity(64);
        wrapped_passphrase().for_each(|letter| text.push(letter));
        let source = PassphraseSource::Given(Zeroizing::new(text));
        let manager: Arc<dyn KeyManager> =
            Arc::new(PassphraseManager::new(source, &Keyring::default(), world.clone()));
        (0..6).for_each(|_| world.entropy.fill(&mut [0]).unwrap());
        let ring = create("stack:a", std::slice::from_ref(&manager), &world).await.unwrap();
        (unlock(ring.ring(), "stack:a", std::slice::from_ref(&manager)).await.unwrap(), manager)
    });

    let mut identity = Vec::new();
    let thread = std::thread::spawn(|| Sought::new("the identity", new_identity().secret.as_bytes()));
    identity.push(thread.join().unwrap());
    assert_eq!(found(&identity), [""; 0], "the identity was dropped");
}

/// Returns the letters of the passphrase, which stand nowhere in one piece.
fn wrapped_passphrase() -> impl Iterator<Item = char> {
    ["canary ", "passphrase ", "of the ", "memory"].into_iter().flat_map(str::chars)
}
