//! Names as people read them, in a place that already names the environment.

use crate::{Environment, Name};

impl Name {
    /// Returns the name without the environment that the reader knows.
    ///
    /// A name in another environment is returned in full.
    pub fn shown_in(&self, environment: &Environment) -> String {
        let full = self.to_string();
        if self.environment() != environment {
            return full;
        }
        let known = environment.to_string();
        let rest = full.strip_prefix(&known).unwrap_or(&full);
        rest.strip_prefix(':').unwrap_or(rest).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_environment_is_left_out() {
        let dev = Environment::new("dev");
        let shown = |name: &str| name.parse::<Name>().unwrap().shown_in(&dev);
        assert_eq!(shown("dev:main:local.File#a"), "main:local.File#a");
        assert_eq!(shown("dev:net.vpc/Network#a%2Fb:local.File"), "net.vpc/Network#a%2Fb:local.File");
        assert_eq!(shown("dev#orders"), "#orders");
        assert_eq!(shown("prod:main:local.File"), "prod:main:local.File");
        let acme: Environment = "dev:acme".parse().unwrap();
        assert_eq!("dev:acme:main:T#x".parse::<Name>().unwrap().shown_in(&acme), "main:T#x");
    }
}
