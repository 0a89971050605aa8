//! The ledger on disk: one thread owns the file, a bounded queue leads to it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::LedgerEntry;

/// Entries that may wait for the disk. One takes about half a kilobyte.
const QUEUE: usize = 8192;

enum Job {
    Append(Arc<LedgerEntry>),
    Flush(oneshot::Sender<()>),
}

pub(super) struct LineFile {
    queue: Option<SyncSender<Job>>,
    lost: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl LineFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = BufWriter::new(options.open(path)?);
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&lost);
        let writer = std::thread::Builder::new()
            .name("bathy-ledger".to_owned())
            .spawn(move || write_lines(file, &jobs, &counter))?;
        Ok(Self { queue: Some(queue), lost, writer: Some(writer) })
    }

    /// Never blocks: an entry that finds the queue full is counted as lost, and said so in the log.
    pub(super) fn append(&self, entry: Arc<LedgerEntry>) {
        let Some(queue) = &self.queue else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.try_send(Job::Append(entry))
            && self.lost.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::error!("the ledger's file is too slow: entries are missing from it");
        }
    }

    pub(super) async fn flush(&self) {
        let Some(queue) = self.queue.clone() else {
            return;
        };
        let (done, written) = oneshot::channel();
        // The queue may be full, so the send may block.
        let _ = tokio::task::spawn_blocking(move || queue.send(Job::Flush(done))).await;
        let _ = written.await;
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for LineFile {
    /// Closes the queue and waits until what is in it has been written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write_lines(mut file: BufWriter<File>, jobs: &Receiver<Job>, lost: &AtomicU64) {
    // Entries that are in the buffer: a failed flush loses them all.
    let mut buffered = 0;
    while let Ok(first) = jobs.recv() {
        let mut waiting = Vec::new();
        for job in std::iter::once(first).chain(jobs.try_iter()) {
            match job {
                Job::Append(entry) => {
                    buffered += 1;
                    // A broken disk shows at the flush, too; the entries are counted there.
                    let _ = append_line(&mut file, &entry);
                }
                Job::Flush(done) => waiting.push(done),
            }
        }
        if let Err(error) = file.flush() {
            if lost.fetch_add(buffered, Ordering::Relaxed) == 0 {
                tracing::error!(%error, "the ledger's file cannot be written: entries are missing from it");
            }
            // What could not be written must not be tried again in front of later entries.
            match file.get_ref().try_clone() {
                Ok(clone) => drop(std::mem::replace(&mut file, BufWriter::new(clone)).into_parts()),
                Err(_) => return,
            }
        }
        buffered = 0;
        for done in waiting {
            let _ = done.send(());
        }
    }
}

fn append_line(file: &mut impl Write, entry: &LedgerEntry) -> io::Result<()> {
    serde_json::to_writer(&mut *file, entry)?;
    file.write_all(b"\n")
}
