//! `stead serve --admission` and `stead admission manifests`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::project::Project;

const SERVE: [&str; 10] = [
    "serve",
    "--admission",
    "--listen",
    "127.0.0.1:0",
    "--tls-cert",
    "tls.crt",
    "--tls-key",
    "tls.key",
    "--kubeconfig",
    "config",
];

/// Folder with certificates, and with the kubeconfig of a cluster that does not exist.
struct Setup {
    project: Project,
    trust: Arc<ClientConfig>,
}

impl Setup {
    fn new() -> Setup {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let project = Project::empty();
        project.write("tls.crt", &params.signed_by(&key, &authority).unwrap().pem());
        project.write("tls.key", &key.serialize_pem());
        project.write("ca.crt", &authority.pem());
        // No server listens on port 1.
        project.write(
            "config",
            "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\nusers: [{name: x, user: {token: canary-token}}]\n\
             clusters: [{name: x, cluster: {server: 'https://127.0.0.1:1', certificate-authority: ca.crt}}]\n",
        );
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let trust = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Setup { project, trust: Arc::new(trust) }
    }

    fn start(&self, flags: &[&str]) -> Serving<'_> {
        let mut child = self.project.spawn(&[&SERVE, flags].concat());
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let at = line.find("https://").unwrap_or_else(|| panic!("{line:?}"));
        let address = line[at + 8..].trim_end_matches(['\n', '"', '}']).to_owned();
        Serving { setup: self, child, stdout, address }
    }
}

struct Serving<'a> {
    setup: &'a Setup,
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Serving<'_> {
    /// Sends a request over TLS, and returns the whole response.
    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let name = "127.0.0.1".try_into().unwrap();
        let connection = ClientConnection::new(self.setup.trust.clone(), name).unwrap();
        let mut stream = StreamOwned::new(connection, TcpStream::connect(&self.address).unwrap());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: hook\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal, and returns exit code, the rest of stdout, and stderr.
    fn stop(mut self, signal: &str) -> (Option<i32>, String, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), rest, String::from_utf8(output.stderr).unwrap())
    }
}

fn review(annotations: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","operation":"DELETE",
        "kind":{{"group":"s3.services.k8s.aws","version":"v1alpha1","kind":"Bucket"}},
        "resource":{{"group":"s3.services.k8s.aws","version":"v1alpha1","resource":"buckets"}},
        "name":"logs","namespace":"prod","userInfo":{{"username":"ada"}},
        "oldObject":{{"metadata":{{"name":"logs","namespace":"prod","annotations":{annotations}}}}}}}}}"#
    )
}

#[test]
fn webhook_answers_over_tls_and_exits_0_when_terminated() {
    let setup = Setup::new();
    let serving = setup.start(&[]);
    assert!(serving.request("GET", "/healthz", "").starts_with("HTTP/1.1 200"));
    let refused =
        serving.request("POST", "/validate", &review(r#"{"s3.services.k8s.aws/prevent-delete":"true"}"#));
    assert!(
        refused.contains(r#""allowed":false"#)
            && refused.contains("ST0801")
            && refused.contains(r#""code":403"#),
        "{refused}"
    );
    let unreachable = serving.request("POST", "/validate", &review("{}"));
    assert!(
        unreachable.contains("ST0802")
            && unreachable.contains("cannot connect to the API server at 127.0.0.1:1"),
        "{unreachable}"
    );
    let (code, stdout, stderr) = serving.stop("-TERM");
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{stderr}");
    assert!(
        lines[0].contains("refused DELETE buckets.s3.services.k8s.aws prod/logs by ada (uid u-1"),
        "{stderr}"
    );
    assert!(lines[2].contains("stopping"), "{stderr}");
    assert!(!stderr.contains("canary"), "{stderr}");
}

#[test]
fn interrupted_webhook_exits_130_and_prints_json() {
    let setup = Setup::new();
    let serving = setup.start(&["--json", "--prevent-delete"]);
    let refused = serving.request("POST", "/validate", &review(r#"{"prevent-delete":"false"}"#));
    assert!(refused.contains("set to refuse all deletions"), "{refused}");
    let (code, stdout, stderr) = serving.stop("-INT");
    assert_eq!((code, stderr.as_str()), (Some(130), ""));
    let lines: Vec<serde_json::Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["decided", "stopping"]);
    assert_eq!(
        (&lines[0]["kind"], &lines[0]["allowed"], &lines[0]["code"]),
        (&"admission".into(), &false.into(), &"ST0801".into())
    );
}

#[test]
fn invalid_webhook_settings_are_reported_with_code_and_help() {
    let setup = Setup::new();
    let project = &setup.project;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    project.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
    let with = |from: &str, to: &str| -> Vec<String> {
        SERVE.iter().map(|word| if *word == from { to.to_owned() } else { (*word).to_owned() }).collect()
    };
    let mut messages = Vec::new();
    for (arguments, code) in [
        (with("tls.crt", "config"), 2),
        (with("tls.crt", "gone.crt"), 2),
        (with("tls.key", "tls.crt"), 2),
        (with("tls.key", "other.key"), 2),
        (with("config", "tls.crt"), 2),
        (with("config", "gone"), 2),
        (with("127.0.0.1:0", &address), 1),
        (with("127.0.0.1:0", "nonsense"), 1),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let failed = project.stead(&arguments).ends(code);
        messages.push(failed.stderr.replace(&address, "ADDRESS"));
    }
    messages.push(project.stead(&SERVE[..8]).ends(2).stderr);
    insta::assert_snapshot!(messages.join("\n"));
    assert_eq!(
        project.stead(&["serve", "--tls-cert", "a", "--tls-key", "b"]).code,
        2,
        "`--admission` is required"
    );
    assert_eq!(project.stead(&["serve", "--admission", "--frobnicate"]).code, 2);
}

#[test]
fn manifests_are_printed_and_invalid_flags_are_refused() {
    let setup = Setup::new();
    let project = &setup.project;
    let all = project.stead(&["admission", "manifests", "--ca-bundle", "ca.crt"]).ok();
    assert_eq!(all.matches("\nkind: ").count(), 12, "{all}");
    assert!(all.contains("caBundle: LS0tLS1CRUdJTi"), "{all}");
    let policy =
        project.stead(&["admission", "manifests", "--only", "policy", "--group", "db.example.org"]).ok();
    assert!(policy.contains("'db.example.org'") && !policy.contains("Deployment"), "{policy}");
    let bad = project.stead(&["admission", "manifests", "--ca-bundle", "tls.key"]).ends(2).stderr;
    assert!(bad.contains("the CA bundle is not a PEM certificate"), "{bad}");
    assert!(project.stead(&["admission", "manifests", "--group", "a'b"]).ends(2).stderr.contains("ST0605"));
}
