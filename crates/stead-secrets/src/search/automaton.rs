//! An automaton of Aho and Corasick over the forms, for texts in which the index would compare too much.
//!
//! Its time is linear in the text, whatever the forms and the text are. It needs 17 bytes for each byte of the forms, so it is built
//! only when a text needs it. The bytes are overwritten when it is dropped.

use std::collections::VecDeque;

use zeroize::Zeroizing;

use super::forms::Form;

/// No state, or no form.
const NONE: u32 = u32::MAX;

/// The states are the prefixes of all forms; the first is the empty one.
pub(super) struct Automaton {
    /// The last byte of each state.
    bytes: Zeroizing<Vec<u8>>,
    /// The first state that is one byte longer, and the next one with the same parent.
    child: Vec<u32>,
    sibling: Vec<u32>,
    /// The longest proper suffix of the state that is a state.
    shorter: Vec<u32>,
    /// The longest form that the state ends with.
    form: Vec<u32>,
}

impl Automaton {
    /// Returns the automaton of forms that are sorted by their bytes.
    pub(super) fn new(forms: &[Form]) -> Automaton {
        let most = 1 + forms.iter().map(|form| form.bytes.len()).sum::<usize>();
        // Vectors that grow would leave copies of the bytes behind.
        let bytes = Zeroizing::new(Vec::with_capacity(most));
        let (child, sibling, form) = (Vec::new(), Vec::new(), Vec::new());
        let mut automaton = Automaton { bytes, child, sibling, shorter: Vec::new(), form };
        automaton.push(0);
        let (mut path, mut before): (Vec<u32>, &[u8]) = (vec![0], &[]);
        for (number, form) in forms.iter().enumerate() {
            // Neighbours in the order share the longest beginnings.
            path.truncate(1 + common_prefix(before, &form.bytes));
            for byte in &form.bytes[path.len() - 1..] {
                let parent = path[path.len() - 1] as usize;
                let state = automaton.push(*byte);
                automaton.sibling[state as usize] = automaton.child[parent];
                automaton.child[parent] = state;
                path.push(state);
            }
            automaton.form[path[path.len() - 1] as usize] = number as u32;
            before = &form.bytes;
        }
        automaton.link();
        automaton
    }

    fn push(&mut self, byte: u8) -> u32 {
        self.bytes.push(byte);
        self.child.push(NONE);
        self.sibling.push(NONE);
        self.shorter.push(0);
        self.form.push(NONE);
        (self.bytes.len() - 1) as u32
    }

    /// Fills in the suffixes, shorter states first.
    fn link(&mut self) {
        let mut queue = VecDeque::from([0]);
        while let Some(parent) = queue.pop_front() {
            let mut state = self.child[parent as usize];
            while state != NONE {
                let at = state as usize;
                if parent != 0 {
                    self.shorter[at] = self.next(self.shorter[parent as usize], self.bytes[at]);
                }
                if self.form[at] == NONE {
                    self.form[at] = self.form[self.shorter[at] as usize];
                }
                queue.push_back(state);
                state = self.sibling[at];
            }
        }
    }

    /// Returns the longest state that the text has at its end, after one more byte.
    pub(super) fn next(&self, state: u32, byte: u8) -> u32 {
        self.step(state, byte).0
    }

    /// Returns the next state, and the number of states that were looked at.
    fn step(&self, mut state: u32, byte: u8) -> (u32, usize) {
        let mut looked_at = 0;
        loop {
            looked_at += 1;
            let mut longer = self.child[state as usize];
            while longer != NONE {
                if self.bytes[longer as usize] == byte {
                    return (longer, looked_at);
                }
                looked_at += 1;
                longer = self.sibling[longer as usize];
            }
            if state == 0 {
                return (0, looked_at);
            }
            state = self.shorter[state as usize];
        }
    }

    /// Returns the number of states that a search of the text looks at.
    #[cfg(test)]
    pub(super) fn looked_at(&self, text: &[u8]) -> usize {
        let mut all = 0;
        text.iter().fold(0, |state, byte| {
            let (next, looked_at) = self.step(state, *byte);
            all += looked_at;
            next
        });
        all
    }

    /// Returns the position of the longest form that a text in this state ends with.
    pub(super) fn form_at_end(&self, state: u32) -> Option<usize> {
        let form = self.form[state as usize];
        (form != NONE).then_some(form as usize)
    }
}

/// Returns the number of bytes that two texts have in common at their beginnings.
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 32;
    let steps = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count();
    let start = steps * STEP;
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}
