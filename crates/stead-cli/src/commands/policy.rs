//! `stead policy explain`: shows which setting of prevent-delete and deletion-policy decides about a resource.

use std::fmt::Write as _;

use stead::guard::{Row, SettingEffect};
use stead::{MarkExplanation, Notice, explain_marks};
use stead_model::{DeletionPolicy, Level};
use stead_render::Paint;

use crate::args::MarkFlags;
use crate::failure::Failure;
use crate::session::Session;
use crate::ui::Ui;

pub(crate) async fn explain(
    session: &Session,
    wanted: &str,
    flags: &MarkFlags,
    ui: &Ui,
) -> Result<u8, Failure> {
    let levels = session.levels(flags);
    let show_notice = |notice: Notice<'_>| ui.notice(&notice);
    let program = session.program(levels.clone(), &show_notice);
    let explanation = explain_marks(&session.workspace, &program, &levels, wanted).await?;
    ui.json("policy", &explanation);
    ui.result(&describe(&explanation, ui));
    Ok(0)
}

fn describe(explanation: &MarkExplanation, ui: &Ui) -> String {
    let style = ui.out_style();
    let MarkExplanation { name, service, prevent_delete, deletion_policy, recorded, holds } = explanation;
    let mut out = format!("{}  service {service}\n", style.paint(Paint::Strong, name));
    let _ =
        writeln!(out, "\nprevent-delete: {}", style.paint(Paint::Strong, &holds.prevent_delete.to_string()));
    prevent_delete.table.iter().for_each(|row| out.push_str(&line(row, &row.value.to_string())));
    if let Some(mark) = recorded.as_ref().and_then(|marks| marks.prevent_delete.as_ref()) {
        let _ = writeln!(out, "  recorded   {:<7} {}", mark.value, mark.source);
    }
    let _ = writeln!(out, "\ndeletion-policy: {}", style.paint(Paint::Strong, text(holds.deletion_policy)));
    deletion_policy.table.iter().for_each(|row| out.push_str(&line(row, text(row.value))));
    if let Some(mark) = recorded.as_ref().and_then(|marks| marks.deletion_policy.as_ref()) {
        let _ = writeln!(out, "  recorded   {:<7} {}", text(mark.value), mark.source);
    }
    let (prevented, retained) =
        recorded.as_ref().map(|marks| (marks.prevents_deletion(), marks.retains())).unwrap_or_default();
    let recorded_is_safer =
        prevented && !prevent_delete.value || retained && deletion_policy.value == DeletionPolicy::Delete;
    if recorded_is_safer {
        out.push_str("\nThe recorded setting is safer, and holds until `stead up` records the change.\n");
    }
    out
}

fn line<T>(row: &Row<T>, value: &str) -> String {
    let standing = match row.effect {
        SettingEffect::Decides => "decides",
        SettingEffect::Overruled => "overruled",
    };
    let source = match &row.source.level {
        Level::BuiltIn => "built in".to_owned(),
        _ => row.source.to_string(),
    };
    format!("  {standing:<10} {value:<7} {source}\n")
}

fn text(policy: DeletionPolicy) -> &'static str {
    match policy {
        DeletionPolicy::Delete => "delete",
        DeletionPolicy::Retain => "retain",
    }
}
