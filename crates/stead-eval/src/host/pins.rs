//! Host functions for `nodeOf(…).pinned`, `static pinned`, `static gid` and `move`.

use rquickjs::{Ctx, Value};
use stead_model::NodeId;

use super::Host;
use crate::declare::gid;
use crate::declare::moves::{Move, MoveTarget};
use crate::engine::session::Session;

impl<'js> Host<'js> {
    pub(super) fn pins(&self) -> rquickjs::Result<()> {
        let session = self.session.clone();
        self.function("pin", move |node: usize, flag: bool| {
            if let Some(draft) = session.borrow_mut().drafts.get_mut(node) {
                draft.pinned = Some(flag);
            }
        })?;
        let session = self.session.clone();
        self.function("pinByClass", move |node: usize, flag: bool| {
            if let Some(draft) = session.borrow_mut().drafts.get_mut(node) {
                draft.pinned_by_class = Some(flag);
            }
        })?;
        let session = self.session.clone();
        self.function("gidByClass", move |node: usize, property: String, value: Value<'js>| {
            gid::set_by_class(&mut session.borrow_mut(), node, &property, &value);
        })?;
        let session = self.session.clone();
        self.function("move", move |from: String, node: i32, to: String, stack: String| {
            let mut session = session.borrow_mut();
            let place = session.locate_stack(&stack);
            let to = u32::try_from(node).map_or(MoveTarget::Named(to), |node| MoveTarget::Node(NodeId(node)));
            session.moves.push(Move { from, to, place });
        })?;
        let session = self.session.clone();
        self.function("pinSetting", move |ctx: Ctx<'js>, node: u32| {
            let flag = setting(&session.borrow(), NodeId(node));
            flag.map_or_else(|| Value::new_undefined(ctx.clone()), |flag| Value::new_bool(ctx.clone(), flag))
        })
    }
}

/// Returns the pin setting in force so far: of the node itself, or else of the nearest enclosing node.
fn setting(session: &Session, node: NodeId) -> Option<bool> {
    let mut at = Some(node);
    while let Some(draft) = at.and_then(|node| session.drafts.get(node.index())) {
        if let Some(flag) = draft.pin_setting() {
            return Some(flag);
        }
        at = draft.parent;
    }
    None
}
