//! The strategy of stead.

use stead_schema::cfn::{
    DigestKey, LastApplied, Reason, Settled, Update, UpdateInputs, patch, patch_document,
};

use crate::strategy::{Answer, Question, Strategy};

pub(crate) struct ThreeWay;

impl Strategy for ThreeWay {
    fn name(&self) -> &'static str {
        "stead"
    }

    fn answer(&self, question: &Question<'_>) -> Answer {
        let Question { schema, last, settled, live, want } = question;
        let key = DigestKey::new([7; 32]);
        let settled = settled.map(|settled| Settled::of(schema, &key, last, settled));
        let last = LastApplied::of(schema, &key, last);
        match patch(schema, &UpdateInputs { last: &last, settled: settled.as_ref(), live, want, key: &key }) {
            Update::Nothing => Answer::Nothing,
            Update::Patch { operations, .. } => Answer::Patch(patch_document(&operations)),
            Update::Replace { .. } => Answer::Replace,
            Update::Impossible(reasons) => {
                Answer::Impossible(reasons.iter().map(shown).collect::<Vec<_>>().join("; "))
            }
        }
    }
}

fn shown(reason: &Reason) -> String {
    format!("{}: {}", reason.path, reason.why)
}
