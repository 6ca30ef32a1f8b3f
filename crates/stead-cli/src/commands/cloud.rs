//! `stead cloud serve`: an embedded cloud on a loopback port, until a shutdown signal.

use std::sync::Arc;

use serde::Serialize;
use stead_cloud::{Cloud, Delay, FaultPlan, Quotas, Rate, References, Settings};
use stead_model::{Code, Diagnostic};
use stead_server::LoopbackServer;

use crate::args::{CloudArguments, Common, IgnoredRule};
use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring::{self, ShutdownSignal};

#[derive(Serialize)]
struct Listening {
    address: String,
}

pub(crate) async fn serve(common: &Common, arguments: &CloudArguments, ui: &Ui) -> Result<u8, Failure> {
    let world = wiring::world();
    let failed = |what: String| Failure::new(Kind::Failed, Diagnostic::error(Code::CANNOT_LISTEN, what));
    let mut signals =
        wiring::shutdown_signals().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
    let folder =
        arguments.state.as_ref().map(|state| common.directory.clone().unwrap_or_default().join(state));
    let cloud = match &folder {
        Some(folder) => Cloud::open(&world, folder, settings(arguments))
            .map_err(|error| failed(format!("cannot open the cloud in {}: {error}", folder.display())))?,
        None => Cloud::new(world.clock.clone(), settings(arguments)),
    };
    let server = LoopbackServer::open(world, arguments.port).await.map_err(|error| {
        let message = format!("cannot listen on port {}: {error}", arguments.port);
        let problem = Diagnostic::error(Code::CANNOT_LISTEN, message)
            .help("choose another port with `--port PORT`; port 0 takes any free port");
        Failure::new(Kind::Failed, problem)
    })?;
    let address = format!("http://{}", server.address());
    ui.result(&format!("listening on {address}\n"));
    ui.json("listening", &Listening { address });
    let mut ended_by = ShutdownSignal::Terminated;
    let stop = async { ended_by = signals.recv().await.unwrap_or(ShutdownSignal::Terminated) };
    server.run(Arc::new(cloud), stop).await;
    Ok(match ended_by {
        ShutdownSignal::Terminated => 0,
        ShutdownSignal::Interrupted => Kind::Interrupted as u8,
    })
}

fn settings(arguments: &CloudArguments) -> Settings {
    let ignored = |rule: IgnoredRule| arguments.ignore.contains(&rule);
    Settings {
        seed: 0,
        operations: Delay::of(arguments.operations),
        consistency: Delay::of(arguments.consistency),
        faults: arguments.faults.map(|(seed, rate)| FaultPlan { seed, rate }),
        rate: arguments.rate.map(|per_second| Rate { per_second, burst: per_second }),
        quotas: if ignored(IgnoredRule::Quotas) { Quotas::Ignored } else { Quotas::Enforced },
        references: if ignored(IgnoredRule::References) { References::Ignored } else { References::Checked },
        latency: arguments.latency,
        ..Settings::default()
    }
}
