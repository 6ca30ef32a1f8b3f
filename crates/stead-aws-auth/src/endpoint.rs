//! URLs of services: `AWS_ENDPOINT_URL_<SERVICE>`, `AWS_ENDPOINT_URL`, else the regional one of AWS.

use stead_world::{Variables, World};

/// Returns the URL of a service in a region, without a slash at the end.
pub(crate) fn endpoint(world: &World, service: &str, region: &str) -> String {
    let variables = &world.host.variables;
    if let Some(url) = overridden(variables, service) {
        return url;
    }
    let fips = variables.get("AWS_USE_FIPS_ENDPOINT").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let fips = if fips { "-fips" } else { "" };
    format!("https://{service}{fips}.{region}.{}", suffix(region))
}

/// Returns the URL that the environment gives for a service, such as `AWS_ENDPOINT_URL_KMS`.
pub(crate) fn overridden(variables: &Variables, service: &str) -> Option<String> {
    let name = service.replace(['-', '.', ' '], "_").to_ascii_uppercase();
    let own = variables.get(&format!("AWS_ENDPOINT_URL_{name}"));
    let url = own.or_else(|| variables.get("AWS_ENDPOINT_URL")).filter(|url| !url.is_empty())?;
    let ignored = variables.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    let ignored = ignored.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    (!ignored).then(|| url.trim_end_matches('/').to_owned())
}

/// Returns the domain of the partition that a region is in.
pub(crate) fn suffix(region: &str) -> &'static str {
    match region {
        region if region.starts_with("cn-") => "amazonaws.com.cn",
        region if region.starts_with("us-iso-") => "c2s.ic.gov",
        region if region.starts_with("us-isob-") => "sc2s.sgov.gov",
        region if region.starts_with("eusc-") => "amazonaws.eu",
        _ => "amazonaws.com",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(variables: &[(&str, &str)], region: &str) -> String {
        let mut world = World::in_memory([]);
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut host = (*world.host).clone();
        host.variables = variables.collect();
        world.host = host.into();
        endpoint(&world, "kms", region)
    }

    #[test]
    fn endpoint_is_regional_unless_the_environment_names_one() {
        assert_eq!(url(&[], "eu-west-1"), "https://kms.eu-west-1.amazonaws.com");
        assert_eq!(url(&[], "cn-north-1"), "https://kms.cn-north-1.amazonaws.com.cn");
        assert_eq!(
            url(&[("AWS_USE_FIPS_ENDPOINT", "true")], "us-east-1"),
            "https://kms-fips.us-east-1.amazonaws.com"
        );
        let both = [("AWS_ENDPOINT_URL", "http://a:1/"), ("AWS_ENDPOINT_URL_KMS", "http://b:2")];
        assert_eq!(url(&both, "x"), "http://b:2");
        assert_eq!(url(&both[..1], "x"), "http://a:1");
    }
}
