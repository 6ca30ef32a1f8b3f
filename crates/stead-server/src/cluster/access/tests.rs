//! Typical kubeconfig files.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the tests write kubeconfig files")]

use super::*;

const PARTS: &str = "
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster: {server: 'https://10.0.0.1:6443/k8s/c-1/', certificate-authority: ca.crt}
- name: open
  cluster: {server: 'https://10.0.0.1', insecure-skip-tls-verify: true}
- name: plain
  cluster: {server: 'http://127.0.0.1:8001', certificate-authority-data: Cg==}
- name: proxied
  cluster: {server: 'https://x', proxy-url: 'http://p'}
- name: bare
  cluster: {server: 'https://x'}
users:
- name: ada
  user: {token: canary-token}
- name: basic
  user: {username: ada, password: canary-password}
- name: old
  user: {auth-provider: {name: gcp}}
- name: half
  user: {client-certificate-data: Cg==}
- name: exec
  user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: aws}}
contexts:
- name: prod
  context: {cluster: prod, user: ada}
- name: open
  context: {cluster: open, user: ada}
- name: plain
  context: {cluster: plain, user: ada}
- name: proxied
  context: {cluster: proxied, user: ada}
- name: bare
  context: {cluster: bare, user: ada}
- name: basic
  context: {cluster: prod, user: basic}
- name: old
  context: {cluster: prod, user: old}
- name: half
  context: {cluster: prod, user: half}
- name: exec
  context: {cluster: prod, user: exec}
- name: nowhere
  context: {cluster: gone, user: ada}
- name: nobody
  context: {cluster: prod, user: gone}
";

async fn opened(text: &str, context: Option<&str>) -> Result<ApiServer, String> {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, text).unwrap();
    let ca = rcgen::generate_simple_self_signed(["ca".to_owned()]).unwrap();
    std::fs::write(folder.path().join("ca.crt"), ca.cert.pem()).unwrap();
    let access = Access::Kubeconfig { files: vec![config], context: context.map(str::to_owned) };
    let opened = ApiServer::open(&World::real(), &access).await;
    opened.map_err(|error| error.to_string().replace(&folder.path().display().to_string(), "DIR"))
}

#[tokio::test]
async fn context_selects_a_cluster_and_a_user() {
    assert!(opened(PARTS, None).await.is_ok());
    assert!(opened(PARTS, Some("prod")).await.is_ok());
}

#[tokio::test]
async fn errors_name_missing_and_unsupported_settings_but_no_secrets() {
    let mut said = Vec::new();
    for context in
        ["open", "plain", "proxied", "bare", "basic", "old", "half", "exec", "nowhere", "nobody", "none"]
    {
        let error = opened(PARTS, Some(context)).await.err().unwrap();
        assert!(!error.contains("canary"), "{error}");
        said.push(format!("{context}: {error}"));
    }
    for text in ["", "[1", "clusters: 7", "current-context: x"] {
        said.push(format!("{text:?}: {}", opened(text, None).await.err().unwrap()));
    }
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn earlier_file_wins_and_paths_are_relative_to_their_file() {
    let one = Kubeconfig::parse(Path::new("/a/one"), b"current-context: ''\ncontexts: null\n").unwrap();
    let two = Kubeconfig::parse(Path::new("/b/two"), PARTS.as_bytes()).unwrap();
    let other =
        PARTS.replace("10.0.0.1", "10.9.9.9").replace("current-context: prod", "current-context: open");
    let three = Kubeconfig::parse(Path::new("/c/three"), other.as_bytes()).unwrap();
    let (cluster, _) = one.merge(two).merge(three).choose(None).unwrap();
    assert_eq!(cluster.server, "https://10.0.0.1:6443/k8s/c-1/");
    assert_eq!(cluster.certificate_authority.as_deref(), Some(Path::new("/b/ca.crt")));
    let endpoint = endpoint(&cluster.server, Some("kubernetes")).unwrap();
    assert_eq!(
        (endpoint.host.as_str(), endpoint.port, endpoint.prefix.as_str()),
        ("10.0.0.1", 6443, "/k8s/c-1")
    );
    let six = super::endpoint("https://[fd00::1]", None).unwrap();
    assert_eq!((six.host.as_str(), six.port), ("fd00::1", 443));
}
