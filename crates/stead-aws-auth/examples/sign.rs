//! Signs requests for a comparison with botocore. Each line of stdin is a request as JSON; each line of stdout its signature.

#![allow(clippy::print_stdout, reason = "an example prints its results")]

use std::io::BufRead as _;

use serde::Deserialize;
use stead_aws_auth::{Credentials, Scope, Style, rfc3339, sign};
use stead_world::{HttpRequest, Method, Timestamp};

#[derive(Deserialize)]
struct Line {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: String,
    id: String,
    secret: String,
    token: Option<String>,
    service: String,
    region: String,
    time: String,
    s3: bool,
}

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(line) => println!("{}", signed(line)),
            Err(error) => println!("malformed: {error}"),
        }
    }
}

fn signed(line: Line) -> String {
    let methods = [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];
    let method = methods.into_iter().find(|method| method.as_str() == line.method).unwrap_or(Method::Get);
    let mut request = HttpRequest::post(line.url, line.body);
    request.method = method;
    for (name, value) in line.headers {
        request.headers.add(name, value);
    }
    let credentials = Credentials::new(line.id, line.secret).with_token(line.token);
    let style = if line.s3 { Style::S3 } else { Style::Plain };
    let scope = Scope { style, ..Scope::new(line.service, line.region) };
    sign(&mut request, &credentials, &scope, rfc3339(&line.time).unwrap_or(Timestamp(0)));
    request.headers.get("authorization").unwrap_or_default().to_owned()
}
