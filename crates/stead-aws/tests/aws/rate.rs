//! The limiter against a cloud with a rate: nearly all of the rate is used, and every caller has its part of it.

use std::sync::Arc;
use std::time::Duration;

use stead_aws::{AwsProvider, Settings};
use stead_cloud::{Cloud, Place, Rate};
use stead_provider::Provider;
use stead_world::{Clock as _, Host, SimulatedClock, Timestamp, World};

use crate::bench::{BUCKET, REGION, map, record};

/// An access key with an account's number belongs to that account.
const ACCOUNT: &str = "111122223333";

const CALLERS: usize = 40;
const SPAN: Duration = Duration::from_secs(120);

/// Reads in a loop, and returns how many reads were answered in the time.
async fn read_on(provider: Arc<AwsProvider>, clock: SimulatedClock) -> u64 {
    let id = Some(stead_model::PhysicalId("orders".into()));
    let bucket = stead_model::Resource { id, ..record(BUCKET, map(r#"{"BucketName":"orders"}"#)) };
    let mut answered = 0;
    while clock.monotonic() < SPAN {
        answered += u64::from(provider.read(&bucket).await.is_ok());
    }
    answered
}

/// Returns how many reads each caller got, and how many requests were sent, at a cloud with this rate.
fn reads_at(per_second: u32) -> (Vec<u64>, u64) {
    let clock = SimulatedClock::starting_at(Timestamp(1_794_974_400_000));
    let rate = Some(Rate { per_second, burst: per_second });
    let latency = Duration::from_millis(50);
    let cloud =
        Cloud::new(Arc::new(clock.clone()), stead_cloud::Settings { rate, latency, ..Default::default() });
    let place = Place::new(ACCOUNT, REGION);
    cloud.insert(&place, "AWS::S3::Bucket", &map(r#"{"BucketName":"orders"}"#)).unwrap();
    let keys = [("AWS_ACCESS_KEY_ID", ACCOUNT), ("AWS_SECRET_ACCESS_KEY", "unchecked")];
    let variables = keys.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (name, user) = ("machine".to_owned(), "user".to_owned());
    let host = Arc::new(Host { name, user, pid: 0, home: None, owners: None, variables });
    let (time, http) = (Arc::new(clock.clone()), Arc::new(cloud.clone()));
    let world = World { clock: time, http, host, ..World::in_memory([]) };
    let settings = Settings { region: Some(REGION.to_owned()), ..Settings::default() };
    let provider = Arc::new(AwsProvider::new(world, settings));
    let all = async {
        let start = || tokio::spawn(read_on(provider.clone(), clock.clone()));
        let callers: Vec<_> = (0..CALLERS).map(|_| start()).collect();
        let mut answered = Vec::new();
        for caller in callers {
            answered.push(caller.await.unwrap());
        }
        answered
    };
    (clock.block_on(all).unwrap(), cloud.calls().values().sum())
}

#[test]
fn callers_use_nine_tenths_of_the_rate_and_none_starves() {
    for per_second in [10, 30, 200] {
        let (answered, sent) = reads_at(per_second);
        let all: u64 = answered.iter().sum();
        let used = all as f64 / (f64::from(per_second) * SPAN.as_secs_f64());
        assert!(used > 0.9, "{used:.3} of {per_second} per second");
        assert!(sent < all + all / 5, "{sent} requests for {all} answers");
        let (least, part) = (answered.iter().min().copied().unwrap_or_default(), all / CALLERS as u64);
        assert!(least > part / 2, "{least} of {part}: {answered:?}");
    }
}
