//! Being told to stop.

use std::future::Future;
use std::io;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::EXIT_NO;

/// Listens for SIGINT and SIGTERM from now on. The future resolves at the first; the second leaves
/// at once.
///
/// A thread of its own listens, so that the second is heard whatever holds the rest of the program:
/// a trace that nobody reads, a disk that does not answer.
pub(super) fn listen() -> io::Result<impl Future<Output = ()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let (told, first) = oneshot::channel();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut one = || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            });
        };
        one();
        // A program that is ending anyway does not listen any more.
        let _ = told.send(());
        one();
        std::process::exit(EXIT_NO.into());
    })?;
    Ok(async move {
        // An error would mean that the thread is gone, and with it every signal.
        if first.await.is_err() {
            std::future::pending::<()>().await;
        }
        tracing::info!("stopping after the event under way; a second signal leaves at once");
    })
}
