//! The line of a session: one task owns the session and runs its calls one after the other.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::tool::BoxFuture;
use crate::{Answer, Code, Failure};

/// Calls that may wait in one session.
pub(crate) const CAPACITY: usize = 64;

pub(crate) type Outcome = Result<Answer, Failure>;

/// A call that waits for its turn. Dropping the receiver of its reply cancels it, waiting or running.
pub(crate) struct Turn<S> {
    pub(crate) run: Box<dyn FnOnce(S) -> BoxFuture<Outcome> + Send>,
    pub(crate) reply: oneshot::Sender<Outcome>,
}

/// What is known of a session from outside.
#[derive(Debug, Clone)]
pub(crate) struct Status<S> {
    /// The session, once it is open.
    pub(crate) session: Option<S>,
    /// When a call last ended; none while one runs.
    pub(crate) idle_since: Option<Instant>,
}

/// What a session's task is given.
pub(crate) struct Line<S> {
    pub(crate) turns: mpsc::Receiver<Turn<S>>,
    pub(crate) status: watch::Sender<Status<S>>,
    /// Ends the session now, with what runs and waits in it.
    pub(crate) stop: CancellationToken,
    /// Ends the session once it has not been used for so long.
    pub(crate) idle: Duration,
    /// Whether something beside the line uses the session.
    pub(crate) is_used: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether the session goes away with the call that opens it, where that is cancelled before it is open.
    pub(crate) opened_for_first: bool,
}

/// Opens the session and runs its calls until it is stopped, idle or without an owner, then hands it to `close`.
pub(crate) async fn serve<S, C>(
    mut line: Line<S>,
    opening: impl Future<Output = Result<S, Failure>>,
    close: impl FnOnce(S) -> C,
) where
    S: Clone,
    C: Future<Output = ()>,
{
    // The call that the session is opened for stands in line already.
    let Some(mut first) = line.turns.recv().await else {
        return;
    };
    let opened_for_first = line.opened_for_first;
    let opened = tokio::select! {
        biased;
        () = line.stop.cancelled() => Err(stopped()),
        () = first.reply.closed(), if opened_for_first => Err(stopped()),
        opened = opening => opened,
    };
    let session = match opened {
        Ok(session) => session,
        Err(failure) => {
            // Whoever calls again on that answer must not end up in this line.
            line.turns.close();
            // An answer that nobody waits for any more is no loss, here and below.
            let _ = first.reply.send(Err(failure.clone()));
            return refuse_waiting(line.turns, &failure);
        }
    };
    line.status.send_modify(|status| status.session = Some(session.clone()));
    let mut next = Some(first);
    while let Some(turn) = next.take() {
        if run(turn, &session, &line).await {
            break;
        }
        next = tokio::select! {
            biased;
            () = line.stop.cancelled() => None,
            turn = next_turn(&mut line.turns, line.idle, &line.is_used) => turn,
        };
    }
    refuse_waiting(line.turns, &stopped());
    close(session).await;
}

/// The next call; none once the session was not used for too long or has no owner any more.
async fn next_turn<S>(
    turns: &mut mpsc::Receiver<Turn<S>>,
    idle: Duration,
    is_used: &(dyn Fn() -> bool + Send + Sync),
) -> Option<Turn<S>> {
    loop {
        match timeout(idle, turns.recv()).await {
            Ok(turn) => return turn,
            Err(_) if is_used() => {}
            Err(_) => return None,
        }
    }
}

/// Runs one call; whether the session was stopped meanwhile.
async fn run<S: Clone>(mut turn: Turn<S>, session: &S, line: &Line<S>) -> bool {
    if turn.reply.is_closed() {
        return false;
    }
    line.status.send_modify(|status| status.idle_since = None);
    let running = (turn.run)(session.clone());
    let stopped_meanwhile = tokio::select! {
        biased;
        () = line.stop.cancelled() => {
            let _ = turn.reply.send(Err(stopped()));
            true
        }
        () = turn.reply.closed() => false,
        outcome = running => {
            let _ = turn.reply.send(outcome);
            false
        }
    };
    line.status.send_modify(|status| status.idle_since = Some(Instant::now()));
    stopped_meanwhile
}

fn refuse_waiting<S>(mut turns: mpsc::Receiver<Turn<S>>, failure: &Failure) {
    turns.close();
    while let Ok(turn) = turns.try_recv() {
        let _ = turn.reply.send(Err(failure.clone()));
    }
}

/// What a call is told whose session goes away.
pub(crate) fn stopped() -> Failure {
    Failure::new(Code::Closed, "the session was stopped")
        .with_hint("Start another session with browser_navigate or browser_session_start.")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::Value;

    use super::*;

    type Log = Arc<Mutex<Vec<String>>>;

    struct Bench {
        turns: mpsc::Sender<Turn<()>>,
        stop: CancellationToken,
        log: Log,
        served: tokio::task::JoinHandle<()>,
    }

    fn bench(idle: Duration, opening: impl Future<Output = Result<(), Failure>> + Send + 'static) -> Bench {
        used_bench(idle, opening, || false)
    }

    fn used_bench(
        idle: Duration,
        opening: impl Future<Output = Result<(), Failure>> + Send + 'static,
        is_used: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Bench {
        let (turns, receiver) = mpsc::channel(8);
        let (status, _) = watch::channel(Status { session: None, idle_since: None });
        let (stop, log) = (CancellationToken::new(), Log::default());
        let is_used = Box::new(is_used);
        let line = Line { turns: receiver, status, stop: stop.clone(), idle, is_used, opened_for_first: false };
        let closing = Arc::clone(&log);
        let served = tokio::spawn(serve(line, opening, move |()| async move {
            note(&closing, "closed");
        }));
        Bench { turns, stop, log, served }
    }

    fn note(log: &Log, line: &str) {
        log.lock().unwrap().push(line.to_owned());
    }

    impl Bench {
        /// Puts a call in line that takes so long.
        async fn submit(&self, name: &'static str, takes: Duration) -> oneshot::Receiver<Outcome> {
            let log = Arc::clone(&self.log);
            let (reply, outcome) = oneshot::channel();
            let run = Box::new(move |()| -> BoxFuture<Outcome> {
                Box::pin(async move {
                    note(&log, &format!("{name} begins"));
                    tokio::time::sleep(takes).await;
                    note(&log, &format!("{name} ends"));
                    Ok(Answer { text: name.to_owned(), data: Value::Null, images: Vec::new() })
                })
            });
            self.turns.send(Turn { run, reply }).await.map_err(drop).unwrap();
            outcome
        }

        fn log(&self) -> Vec<String> {
            self.log.lock().unwrap().clone()
        }
    }

    const LONG: Duration = Duration::from_hours(1);
    const SHORT: Duration = Duration::from_millis(5);

    fn opens() -> impl Future<Output = Result<(), Failure>> {
        std::future::ready(Ok(()))
    }

    #[tokio::test(start_paused = true)]
    async fn calls_run_one_after_the_other_in_the_order_of_submission() {
        let bench = bench(LONG, opens());
        let first = bench.submit("first", SHORT * 10).await;
        let second = bench.submit("second", SHORT).await;
        assert_eq!(second.await.unwrap().unwrap().text, "second");
        assert_eq!(first.await.unwrap().unwrap().text, "first");
        assert_eq!(bench.log(), ["first begins", "first ends", "second begins", "second ends"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_call_stops_and_the_next_runs_at_once() {
        let bench = bench(LONG * 10, opens());
        let first = bench.submit("first", LONG).await;
        let second = bench.submit("second", SHORT).await;
        tokio::time::sleep(SHORT).await;
        let cancelled = tokio::time::Instant::now();
        drop(first);
        second.await.unwrap().unwrap();
        assert!(cancelled.elapsed() < Duration::from_millis(100));
        assert_eq!(bench.log(), ["first begins", "second begins", "second ends"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_cancelled_in_line_never_runs() {
        let bench = bench(LONG, opens());
        let first = bench.submit("first", SHORT).await;
        drop(bench.submit("second", SHORT).await);
        bench.submit("third", SHORT).await.await.unwrap().unwrap();
        first.await.unwrap().unwrap();
        assert!(!bench.log().iter().any(|line| line.starts_with("second")));
    }

    #[tokio::test(start_paused = true)]
    async fn stop_overtakes_what_runs_and_what_waits() {
        let bench = bench(LONG, opens());
        let first = bench.submit("first", LONG).await;
        let second = bench.submit("second", LONG).await;
        tokio::time::sleep(SHORT).await;
        bench.stop.cancel();
        assert_eq!(first.await.unwrap().unwrap_err().code(), Code::Closed);
        assert_eq!(second.await.unwrap().unwrap_err().code(), Code::Closed);
        bench.served.await.unwrap();
        assert_eq!(*bench.log.lock().unwrap(), ["first begins", "closed"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unused_session_is_closed_and_a_busy_one_is_not() {
        let bench = bench(SHORT * 3, opens());
        bench.submit("first", SHORT * 10).await.await.unwrap().unwrap();
        bench.served.await.unwrap();
        assert_eq!(*bench.log.lock().unwrap(), ["first begins", "first ends", "closed"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_used_beside_its_line_is_not_closed() {
        let used = Arc::new(Mutex::new(true));
        let asked = Arc::clone(&used);
        let bench = used_bench(SHORT, opens(), move || *asked.lock().unwrap());
        bench.submit("first", SHORT).await.await.unwrap().unwrap();
        tokio::time::sleep(SHORT * 50).await;
        bench.submit("second", SHORT).await.await.unwrap().unwrap();
        *used.lock().unwrap() = false;
        bench.served.await.unwrap();
        assert_eq!(bench.log.lock().unwrap().last().unwrap(), "closed");
    }

    #[tokio::test]
    async fn a_session_that_does_not_open_fails_every_call_in_line() {
        let (open, opening) = oneshot::channel::<()>();
        let bench = bench(LONG, async move {
            let _ = opening.await;
            Err(Failure::new(Code::LaunchFailed, "no"))
        });
        let first = bench.submit("first", SHORT).await;
        let second = bench.submit("second", SHORT).await;
        drop(open);
        assert_eq!(first.await.unwrap().unwrap_err().code(), Code::LaunchFailed);
        assert_eq!(second.await.unwrap().unwrap_err().code(), Code::LaunchFailed);
        assert!(bench.log().is_empty());
    }
}
