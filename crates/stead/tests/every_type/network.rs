//! Lives whose requests go over a loopback port, from the HTTP client that ships to a server that shares no code with it.

use std::sync::Arc;

use futures_util::FutureExt as _;
use stead_cloud::Cloud;
use stead_model::TypeToken;
use stead_world::testing::{FakeServer, Received, Reply};
use stead_world::{HttpRequest, RealHttp, World};

use crate::bench::Bench;
use crate::life::{Results, live};
use crate::subject::{Size, Subject};

/// Takes a type through its life over two ports: one for each cloud.
pub(crate) fn lived(ty: &TypeToken, size: Size) -> Result<Results, String> {
    let subject = Subject::new(ty, size)?;
    let [(_one, bench), (_other, elsewhere)] = [(); 2].map(|()| served());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Ok(runtime.block_on(live(&bench, &elsewhere, &subject)))
}

fn served() -> (FakeServer, Bench) {
    let bench = Bench::new(World::real().clock);
    let cloud = bench.cloud.clone();
    let server = FakeServer::start(move |received| answer(&cloud, received)).unwrap();
    let url = server.url();
    (server, bench.over(Arc::new(RealHttp::new(&Default::default())), url))
}

fn answer(cloud: &Cloud, received: &Received) -> Reply {
    let mut request = HttpRequest::post(format!("http://cloud{}", received.path), received.body.clone());
    received.headers.iter().for_each(|(name, value)| request.headers.add(name, value));
    // The cloud has no latency here, so that it answers at once.
    let response = cloud.answer(&request).now_or_never().flatten().unwrap();
    let reply = Reply::new(response.status, response.body.to_vec());
    response.headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
}
