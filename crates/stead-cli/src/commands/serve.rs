//! `stead serve --admission`: runs the webhook until a shutdown signal.

use std::path::PathBuf;

use serde::Serialize;
use stead_model::{Code, Diagnostic};
use stead_server::admission::{Groups, Guard};
use stead_server::{
    Access, ApiServer, ClusterError, Event, InCluster, MAX_CONNECTIONS, Server, ServerError, Settings,
    Stopped, TlsFiles,
};
use stead_world::{Timestamp, World};
use tokio::sync::{mpsc, oneshot};

use crate::args::{Common, ServeArguments};
use crate::failure::{Failure, Kind};
use crate::ui::Ui;
use crate::wiring::{self, ShutdownSignal};

#[derive(Serialize)]
struct Listening {
    address: String,
}

#[derive(Serialize)]
struct Logged<'a> {
    at: String,
    #[serde(flatten)]
    event: &'a Event,
}

pub(crate) async fn serve(common: &Common, arguments: &ServeArguments, ui: &Ui) -> Result<u8, Failure> {
    let world = wiring::world();
    let signals = wiring::shutdown_signals().map_err(|error| {
        Failure::from(Diagnostic::error(Code::CANNOT_LISTEN, format!("cannot wait for signals: {error}")))
    })?;
    let folder = common.directory.clone().unwrap_or_default();
    let access = access(&folder, arguments)?;
    let guard = Guard {
        groups: Groups::with(arguments.guard.group.clone()),
        prevent_delete: arguments.guard.prevent_delete(),
        cluster: ApiServer::open(&world, &access).await?,
        clock: world.clock.clone(),
    };
    let settings = Settings {
        listen: arguments.listen.clone(),
        tls: TlsFiles { certificate: folder.join(&arguments.tls_cert), key: folder.join(&arguments.tls_key) },
        max_connections: MAX_CONNECTIONS,
    };
    let (notices, events) = mpsc::unbounded_channel();
    let server = Server::open(world.clone(), settings, guard, notices).await?;
    let address = format!("https://{}", server.address());
    ui.result(&format!("listening on {address}\n"));
    ui.json("listening", &Listening { address });
    Ok(run(server, events, signals, &world, ui).await)
}

/// Shows events until the server has ended. The first signal stops the server, the second leaves at once.
async fn run(
    server: Server,
    mut events: mpsc::UnboundedReceiver<Event>,
    mut signals: mpsc::UnboundedReceiver<ShutdownSignal>,
    world: &World,
    ui: &Ui,
) -> u8 {
    let (stop, stopped) = oneshot::channel::<()>();
    let (mut stop, mut ended_by) = (Some(stop), ShutdownSignal::Terminated);
    let mut running = std::pin::pin!(server.run(async {
        // An error means that the sender was dropped, which stops the server too.
        let _ = stopped.await;
    }));
    let cut = loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => show(&event, world.clock.now(), ui),
            Some(signal) = signals.recv() => match stop.take() {
                Some(stop) => {
                    ended_by = signal;
                    let _ = stop.send(());
                }
                None => break 0,
            },
            Stopped { cut } = running.as_mut() => break cut,
        }
    };
    while let Ok(event) = events.try_recv() {
        show(&event, world.clock.now(), ui);
    }
    if cut > 0 {
        ui.note(&format!("{cut} connections did not end in time and were closed"));
    }
    match ended_by {
        ShutdownSignal::Terminated => 0,
        ShutdownSignal::Interrupted => Kind::Interrupted as u8,
    }
}

fn show(event: &Event, at: Timestamp, ui: &Ui) {
    ui.note(&format!("{at} {event}"));
    ui.json("admission", &Logged { at: at.to_string(), event });
}

/// Returns the kubeconfig of the flag, else of the environment, else the pod's service account.
fn access(folder: &std::path::Path, arguments: &ServeArguments) -> Result<Access, Failure> {
    let environment = wiring::cluster_environment();
    let files = match &arguments.kubeconfig {
        Some(file) => vec![folder.join(file)],
        None => environment.kubeconfig,
    };
    if !files.is_empty() {
        return Ok(Access::Kubeconfig { files, context: arguments.context.clone() });
    }
    match environment.service {
        Some((host, port)) => {
            Ok(Access::InCluster(InCluster { host, port, folder: PathBuf::from(InCluster::FOLDER) }))
        }
        None => {
            let message = "no API server: --kubeconfig and KUBECONFIG are not set, and this is not a pod";
            Err(no_cluster(message.to_owned()))
        }
    }
}

fn no_cluster(message: String) -> Failure {
    let problem = Diagnostic::error(Code::NO_CLUSTER, message)
        .note("The webhook reads marks of namespaces from the API server, and refuses deletions that it cannot check.")
        .help("name a kubeconfig with `--kubeconfig FILE`, or run the webhook in a pod with a service account");
    Failure::new(Kind::Usage, problem)
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Failure {
        no_cluster(error.to_string())
    }
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Failure {
        let message = error.to_string();
        match error {
            ServerError::Certificate(_) => {
                let problem = Diagnostic::error(Code::BAD_CERTIFICATE, message)
                    .help("`--tls-cert` is a PEM file with the certificate first, `--tls-key` its unencrypted PEM key");
                Failure::new(Kind::Usage, problem)
            }
            ServerError::Listen { .. } => {
                let problem = Diagnostic::error(Code::CANNOT_LISTEN, message)
                    .help("choose another address with `--listen HOST:PORT`; port 0 takes any free port");
                Failure::new(Kind::Failed, problem)
            }
        }
    }
}
