//! The consumer whose deliveries share durable commits.

use std::future::Future;
use std::io;
use std::pin::pin;

use super::Batches;
use super::release::Release;
use super::staged::{Batch, Done, Visible};
use crate::imports::log_output;
use crate::processor::{Failure, Outcome};
use crate::run::{Counts, Seen, Stop, Watch};
use crate::source::{Received, Source};

/// As [`consume`](crate::run::consume), with deliveries that share durable commits.
///
/// # Errors
/// As for [`consume`](crate::run::consume), and [`Stop::InDoubt`].
pub async fn consume_in_batches<S: Source>(
    source: &mut S,
    batches: Batches,
    drain: impl Future<Output = ()>,
    watch: &mut impl Watch,
) -> (Counts, Result<(), Stop<S::Error>>) {
    let Batches { feed, mut releases, ended: threads } = batches;
    let mut counts = Counts::default();
    let mut drain = pin!(drain);
    let mut draining = false;
    // How fetching ended, once it has, and how many events it gave.
    let (mut fetched, mut sent) = (None, 0);
    let ended = loop {
        let fetching = fetched.is_none() && !draining;
        let next = async {
            feed.room().await;
            source.next_many(feed.most).await
        };
        tokio::select! {
            biased;
            () = &mut drain, if !draining => {
                feed.drain();
                draining = true;
            }
            release = releases.recv() => match release {
                Some(release) => {
                    let settled = settle(source, release, watch, &mut counts).await;
                    if let Err(stop) = settled {
                        break Err(stop);
                    }
                }
                // The source failed behind what a drain has left over: the next run meets it.
                None if counts.events() < sent => break Ok(()),
                None => break fetched.unwrap_or(Ok(())),
            },
            next = next, if fetching => match next {
                Ok(events) if events.is_empty() => {
                    feed.end();
                    fetched = Some(Ok(()));
                }
                Ok(events) => {
                    sent += events.len() as u64;
                    feed.send(events);
                }
                Err(error) => {
                    feed.end();
                    fetched = Some(Err(Stop::Source(error)));
                }
            },
        }
    };
    // What is still under way is not acknowledged any more, and ends by itself.
    releases.close();
    drop(feed);
    // An error means that the threads are gone, which is what is waited for.
    let _ = threads.await;
    let flushed = source.flush().await.map_err(Stop::Source);
    (counts, ended.and(flushed))
}

/// Shows what was released, and acknowledges it.
async fn settle<S: Source>(
    source: &mut S,
    release: Release,
    watch: &mut impl Watch,
    counts: &mut Counts,
) -> Result<(), Stop<S::Error>> {
    match release {
        Release::Durable(batch) => settle_batch(source, &batch, watch, counts).await,
        Release::Failed { received, failure, visible } => {
            // What was to be shown of it could not change that it failed.
            let _ = show(watch, &received, Err(&failure), visible.as_deref());
            let _ = watch.flush();
            Err(Stop::delivery(&received, failure))
        }
        Release::InDoubt { first, pairs, error } => {
            let Received { event, offset } = *first;
            let event_id = event.id().to_owned();
            Err(Stop::InDoubt { event_id, offset, events: pairs, source: error })
        }
    }
}

async fn settle_batch<S: Source>(
    source: &mut S,
    batch: &Batch,
    watch: &mut impl Watch,
    counts: &mut Counts,
) -> Result<(), Stop<S::Error>> {
    for Done { received, outcome, visible } in batch.done() {
        show(watch, received, Ok(*outcome), visible.as_deref())
            .map_err(|source| Stop::watch(received, source))?;
    }
    let [first, ..] = batch.done() else { return Ok(()) };
    watch.flush().map_err(|source| Stop::watch(&first.received, source))?;
    let [.., last] = batch.done() else { return Ok(()) };
    source.ack(&last.received).await.map_err(Stop::Source)?;
    batch.done().iter().for_each(|done| counts.count(done.outcome));
    Ok(())
}

fn show(
    watch: &mut impl Watch,
    received: &Received,
    answer: Result<Outcome, &Failure>,
    visible: Option<&Visible>,
) -> io::Result<()> {
    if let Some(visible) = visible {
        log_output(&visible.output);
    }
    let trace = visible.and_then(|visible| visible.trace.as_ref());
    watch.delivered(Seen { received, answer, trace })
}
