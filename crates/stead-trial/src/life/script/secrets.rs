//! The secrets of a script: a third of the resources have a password, and some edits change one.

use std::collections::BTreeSet;

use crate::life::edit::Edit;
use crate::life::program::{DeclaredResource, Program};
use crate::life::script::Script;
use crate::{Rng, secret};

/// Number of different secrets that the resources of a life begin with.
const DIFFERENT: u64 = 8;

/// Gives resources of a drawn script their passwords.
///
/// They are drawn by numbers of their own, so that everything else in the life stays as its seed has it.
pub(super) fn declare(script: &mut Script, seed: u64) {
    let mut rng = Rng::new(seed ^ 0x7365_6372);
    let first = rng.draw() >> 8;
    let added = |(name, resource): (&String, &mut DeclaredResource)| {
        resource.password = password(first, name);
    };
    let programs = [Some(&mut script.program), script.start.as_mut().map(|start| &mut start.program)];
    for program in programs.into_iter().flatten() {
        program.resources.iter_mut().map(|(name, resource)| (&*name, resource)).for_each(added);
    }
    for (at, round) in script.rounds.iter_mut().enumerate() {
        for edit in &mut round.edits {
            if let Edit::Add(name, resource) = edit {
                added((name, resource));
            }
        }
        if rng.one_in(3)
            && let Some((name, _)) = rng.pick(&script.program.resources)
        {
            round.edits.push(Edit::Password(name.clone(), first + DIFFERENT + at as u64));
        }
    }
}

/// Returns the password of a resource, always the same for one name: a third of the resources have one.
fn password(first: u64, name: &str) -> Option<u64> {
    let name = name.bytes().fold(first, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let mut rng = Rng::new(name);
    rng.one_in(3).then(|| first + rng.below(DIFFERENT))
}

impl Script {
    /// Returns every secret that a program of the script has at some time.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let of_program = |program: &Program| -> Vec<u64> {
            program.resources.iter().filter_map(|(_, resource)| resource.password).collect()
        };
        let edits = self.rounds.iter().flat_map(|round| &round.edits).filter_map(|edit| match edit {
            Edit::Add(_, resource) => resource.password,
            Edit::Password(_, number) => Some(*number),
            _ => None,
        });
        let mut numbers: BTreeSet<u64> = edits.collect();
        numbers.extend(of_program(&self.program));
        numbers.extend(self.start.iter().flat_map(|start| of_program(&start.program)));
        numbers.into_iter().map(secret::numbered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_have_secrets_of_every_size_and_kind() {
        let all: Vec<Vec<String>> = (0..10_000).map(|seed| Script::draw(seed, None).secrets()).collect();
        let lives = |wanted: &dyn Fn(&String) -> bool| {
            all.iter().filter(|secrets| secrets.iter().any(wanted)).count()
        };
        assert!(lives(&|_| true) > 9000, "{}", lives(&|_| true));
        assert!(lives(&|secret| secret.len() == 8) > 400);
        assert!(lives(&|secret| secret.len() > 1 << 10) > 20);
        assert!(lives(&|secret| secret.len() > 60 << 10) > 2);
        let begins = |secrets: &&Vec<String>| {
            secrets.iter().any(|one| secrets.iter().any(|other| other != one && other.starts_with(one)))
        };
        assert!(all.iter().filter(begins).count() > 50);
    }
}
