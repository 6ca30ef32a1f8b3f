//! The calls of STS that credentials need: `GetCallerIdentity` and `AssumeRole`. Query protocol, answers in XML.

use stead_world::{HttpResponse, Timestamp};

use super::caller::{Caller, access_key, is_account};
use super::machine::Machine;
use super::wire::response;

const NAMESPACE: &str = "https://sts.amazonaws.com/doc/2011-06-15/";
/// Duration of a session, in seconds, unless the call says otherwise.
const DURATION: u64 = 3600;

pub(crate) fn answer(
    machine: &mut Machine,
    now: Timestamp,
    caller: &Caller,
    body: &[u8],
    request_id: &str,
) -> HttpResponse {
    let form = parsed(body);
    let get = |name: &str| form.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let result = match get("Action") {
        Some("GetCallerIdentity") => Ok(("GetCallerIdentity", identity(machine, caller))),
        Some("AssumeRole") => {
            let duration = get("DurationSeconds").and_then(|text| text.parse().ok()).unwrap_or(DURATION);
            assumed(machine, now, get("RoleArn"), get("RoleSessionName"), duration)
                .map(|inside| ("AssumeRole", inside))
        }
        other => Err(("InvalidAction", format!("Could not find operation {}", other.unwrap_or_default()))),
    };
    match result {
        Ok((action, inside)) => {
            let text = format!(
                "<{action}Response xmlns=\"{NAMESPACE}\"><{action}Result>{inside}</{action}Result>\
                 <ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{action}Response>"
            );
            response(200, "text/xml", text, request_id)
        }
        Err((code, message)) => {
            let text = format!(
                "<ErrorResponse xmlns=\"{NAMESPACE}\"><Error><Type>Sender</Type><Code>{code}</Code><Message>{}</Message>\
                 </Error><RequestId>{request_id}</RequestId></ErrorResponse>",
                escaped(&message)
            );
            response(400, "text/xml", text, request_id)
        }
    }
}

fn identity(machine: &Machine, caller: &Caller) -> String {
    let account = &caller.place.account;
    let session = machine.sessions.get(&caller.access_key);
    let (arn, id) = match session {
        Some(session) => {
            (session.clone(), format!("AROA:{}", session.rsplit('/').next().unwrap_or_default()))
        }
        None => (format!("arn:{}:iam::{account}:root", caller.place.partition()), account.clone()),
    };
    format!("<Arn>{}</Arn><UserId>{}</UserId><Account>{account}</Account>", escaped(&arn), escaped(&id))
}

type Refusal = (&'static str, String);

fn assumed(
    machine: &mut Machine,
    now: Timestamp,
    role: Option<&str>,
    session: Option<&str>,
    duration: u64,
) -> Result<String, Refusal> {
    let invalid = |name: &str| {
        (
            "ValidationError",
            format!("Value at '{name}' failed to satisfy constraint: Member must not be null"),
        )
    };
    let role = role.ok_or_else(|| invalid("roleArn"))?;
    let session = session.ok_or_else(|| invalid("roleSessionName"))?;
    let parts: Vec<&str> = role.splitn(6, ':').collect();
    let (account, name) = match parts[..] {
        ["arn", _, "iam", "", account, name] if is_account(account) => {
            (account, name.strip_prefix("role/").unwrap_or_default())
        }
        _ => ("", ""),
    };
    if name.is_empty() {
        return Err(("ValidationError", format!("{role} is invalid")));
    }
    let ids = &mut machine.state.ids;
    let key = access_key("ASIA", account, ids);
    let (secret, token) = (ids.lower(40), ids.lower(200));
    let last = name.rsplit('/').next().unwrap_or_default();
    let arn = format!("arn:{}:sts::{account}:assumed-role/{last}/{session}", parts[1]);
    machine.sessions.insert(key.clone(), arn.clone());
    let expires = Timestamp(now.0 + duration * 1000);
    Ok(format!(
        "<Credentials><AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>\
         <SessionToken>{token}</SessionToken><Expiration>{expires}</Expiration></Credentials>\
         <AssumedRoleUser><AssumedRoleId>AROA{last}:{session}</AssumedRoleId><Arn>{}</Arn></AssumedRoleUser>\
         <PackedPolicySize>1</PackedPolicySize>",
        escaped(&arn)
    ))
}

/// Reads the pairs of a form: `a=b&c=d`, percent-encoded.
fn parsed(body: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(body);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap_or(b'?'));
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
