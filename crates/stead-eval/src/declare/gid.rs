//! `static gid` of a class: the property whose value is the gid of each instance.

use rquickjs::Value;
use stead_model::{Code, Diagnostic, check_id};

use crate::engine::session::Session;

/// Sets the gid of a node to the value of the property that its class names. The option `gid` has precedence.
pub(crate) fn set_by_class(session: &mut Session, node: usize, property: &str, value: &Value<'_>) {
    let Some(draft) = session.drafts.get(node) else { return };
    let (site, class) = (draft.site, draft.class.clone());
    if draft.gid.is_some() {
        return;
    }
    let text = value.as_string().and_then(|text| text.to_string().ok());
    let problem = match text {
        _ if draft.id.is_some() => {
            let message =
                format!("`{property}` is the gid of every {class}, so that an `id` has no place in its name");
            Diagnostic::error(Code::BAD_OPTION, message).help("remove the `id`")
        }
        None => {
            let message = format!(
                "`{property}` is the gid of every {class}: it must be a string, known while planning"
            );
            Diagnostic::error(Code::BAD_OPTION, message)
                .help(format!("set `{property}`, or give this resource a `gid`"))
        }
        Some(text) => match check_id(&text) {
            Ok(()) => {
                session.drafts[node].gid = Some(text);
                return;
            }
            Err(error) => {
                let message = format!("`{property}`, the gid of this {class}: {error}");
                Diagnostic::error(Code::BAD_OPTION, message)
            }
        },
    };
    let place = session.locate_site(site);
    session.report(problem.at(place.at, place.length, "declared here"));
}
