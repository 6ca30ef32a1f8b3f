//! Vectors of AWS's published test suite for Signature Version 4.

use stead_world::Method;

use super::*;
use crate::moment::rfc3339;

fn signature(request: HttpRequest, token: Option<&str>) -> String {
    let credentials =
        Credentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY").with_token(token);
    let now = rfc3339("2015-08-30T12:36:00Z").unwrap();
    let mut request = request;
    sign(&mut request, &credentials, &Scope::new("service", "us-east-1"), now);
    let header = request.headers.get("authorization").unwrap();
    assert!(header.starts_with(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="
    ));
    header.rsplit_once("Signature=").unwrap().1.to_owned()
}

fn get(path: &str) -> String {
    signature(HttpRequest::get(format!("https://example.amazonaws.com{path}")), None)
}

const VANILLA: &str = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";

#[test]
fn get_vanilla_and_its_spellings_have_the_published_signature() {
    for path in ["/", "", "/./", "//", "/example/..", "/example1/example2/../.."] {
        assert_eq!(get(path), VANILLA, "{path}");
    }
}

#[test]
fn paths_have_the_published_signatures() {
    assert_eq!(get("/ሴ"), "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
    assert_eq!(
        get("/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
    );
}

#[test]
fn queries_have_the_published_signatures() {
    assert_eq!(
        get("/?Param2=value2&Param1=value1"),
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
    );
    assert_eq!(get("/?%E1%88%B4=bar"), "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04");
}

#[test]
fn headers_have_the_published_signatures() {
    let request = HttpRequest::get("https://example.amazonaws.com/")
        .header("My-Header1", " value1")
        .header("My-Header2", " \"a   b   c\"");
    assert_eq!(signature(request, None), "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

#[test]
fn posts_have_the_published_signatures() {
    let request = HttpRequest::new(Method::Post, "https://example.amazonaws.com/");
    assert_eq!(
        signature(request.clone(), None),
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    );
    let form = HttpRequest::post("https://example.amazonaws.com/", "Param1=value1")
        .header("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(signature(form, None), "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

#[test]
fn request_can_be_signed_again() {
    let credentials = Credentials::new("A", "s").with_token(Some("old"));
    let scope = Scope::new("kms", "eu-west-1");
    let now = rfc3339("2026-11-18T04:00:00Z").unwrap();
    let mut twice = HttpRequest::get("https://example.amazonaws.com/");
    sign(&mut twice, &credentials, &scope, Timestamp(0));
    let credentials = Credentials::new("A", "s");
    sign(&mut twice, &credentials, &scope, now);
    let mut once = HttpRequest::get("https://example.amazonaws.com/");
    sign(&mut once, &credentials, &scope, now);
    assert_eq!(twice.headers, once.headers);
}

#[test]
fn signature_for_s3_has_the_digest_of_the_body_as_a_header() {
    let scope = Scope { style: Style::S3, ..Scope::new("s3", "us-east-1") };
    let mut request = HttpRequest::get("https://bucket.s3.amazonaws.com/a//b");
    sign(&mut request, &Credentials::new("A", "s"), &scope, Timestamp(0));
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(request.headers.get("x-amz-content-sha256"), Some(empty));
    assert!(request.headers.get("authorization").unwrap().contains("host;x-amz-content-sha256;x-amz-date"));
}
