//! How far a running call has come, for whoever asks.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

/// How often progress is told at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// How far a running call has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// How far it is. It grows from one message of a call to the next.
    pub amount: Amount,
    /// What it does, in words.
    pub message: String,
}

/// What the progress of a call is measured by; the same from its first message to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// The time of a call.
    Time {
        /// How long it has run.
        elapsed: Duration,
        /// How long it may run.
        budget: Duration,
    },
    /// What a call waits for.
    Bytes {
        /// How many have come.
        received: u64,
        /// How many there will be, where all of that is known.
        total: Option<u64>,
    },
}

impl Progress {
    /// How far the call is, in seconds or bytes, and how far it will go, where that is known.
    #[expect(clippy::cast_precision_loss, reason = "nobody waits for 2^53 bytes")]
    pub fn numbers(&self) -> (f64, Option<f64>) {
        match self.amount {
            Amount::Time { elapsed, budget } => (elapsed.as_secs_f64(), Some(budget.as_secs_f64())),
            Amount::Bytes { received, total } => (received as f64, total.map(|total| total as f64)),
        }
    }
}

/// What a call has to say about how far it is. A cheap handle.
#[derive(Debug, Clone)]
pub(crate) struct Meter {
    tool: &'static str,
    started: Instant,
    budget: Duration,
    /// What it is measured by instead of the time.
    bytes: Arc<watch::Sender<Option<Amount>>>,
}

impl Meter {
    /// That of a call which begins now and may take so long; it is measured by time.
    pub(crate) fn of(tool: &'static str, budget: Duration) -> Self {
        Self { tool, started: Instant::now(), budget, bytes: Arc::default() }
    }

    /// Measures by bytes from now on, which a call has to do before it waits for anything.
    pub(crate) fn bytes(&self, received: u64, total: Option<u64>) {
        self.bytes.send_replace(Some(Amount::Bytes { received, total }));
    }

    fn read(&self) -> Progress {
        let elapsed = self.started.elapsed();
        let amount = self.bytes.borrow().unwrap_or(Amount::Time { elapsed, budget: self.budget });
        let message = match amount {
            Amount::Time { elapsed, .. } => format!("{} runs for {} s", self.tool, elapsed.as_secs()),
            Amount::Bytes { received, total: None } => format!("{received} bytes"),
            Amount::Bytes { received, total: Some(total) } => format!("{received} of {total} bytes"),
        };
        Progress { amount, message }
    }
}

/// Does the work and tells now and then how far it is, to whoever asked.
pub(crate) async fn tell<T>(
    working: impl Future<Output = T>,
    listener: Option<mpsc::Sender<Progress>>,
    meter: Meter,
) -> T {
    let Some(listener) = listener else {
        return working.await;
    };
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    tokio::pin!(working);
    loop {
        tokio::select! {
            biased;
            outcome = &mut working => return outcome,
            _ = ticks.tick() => {
                let progress = meter.read();
                let (now, _) = progress.numbers();
                // Progress has to grow (MCP, "Progress"): what stands still is not told again. A listener that cannot
                // keep up misses some.
                if told.is_none_or(|told| now > told) && listener.try_send(progress).is_ok() {
                    told = Some(now);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_grows_comes_once_a_second_and_waits_for_no_listener() {
        let (sender, mut listener) = mpsc::channel(2);
        let meter = Meter::of("tool", Duration::from_mins(1));
        let steps = [(0, None), (10, None), (10, None), (500, Some(1000)), (700, Some(1000)), (1000, Some(1000))];
        let working = {
            let meter = meter.clone();
            async move {
                for (received, total) in steps {
                    meter.bytes(received, total);
                    tokio::time::sleep(INTERVAL).await;
                }
            }
        };
        tell(working, Some(sender), meter).await;
        let mut told = Vec::new();
        while let Some(progress) = listener.recv().await {
            told.push(progress.message);
        }
        // The third was full of the two before.
        assert_eq!(told, ["0 bytes", "10 bytes"]);

        let (sender, mut listener) = mpsc::channel(100);
        let meter = Meter::of("tool", Duration::from_mins(1));
        let working = {
            let meter = meter.clone();
            async move {
                for (received, total) in steps {
                    for piece in 0..10 {
                        meter.bytes(received + piece, total);
                        tokio::time::sleep(INTERVAL / 10).await;
                    }
                }
            }
        };
        tell(working, Some(sender), meter).await;
        let mut told: Vec<(f64, Option<f64>)> = Vec::new();
        while let Some(progress) = listener.recv().await {
            assert!(told.last().is_none_or(|last| last.0 < progress.numbers().0), "{progress:?} after {told:?}");
            told.push(progress.numbers());
        }
        assert!((4..=6).contains(&told.len()), "{told:?}");
        assert_eq!(told.last().unwrap().1, Some(1000.0));
    }
}
