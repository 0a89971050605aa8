//! A process and all that it started, read from `/proc`.

use std::collections::HashMap;
use std::fs;

use crate::problem::{Doing as _, Problem};

/// A process and its descendants at one moment.
pub(super) struct Family(Vec<Member>);

/// A process; ids are used again, but not with the same moment of birth.
#[derive(PartialEq, Eq)]
struct Member {
    id: u32,
    born: u64,
}

impl Family {
    /// The family of a process.
    pub(super) fn of(ancestor: u32) -> Result<Self, Problem> {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for entry in fs::read_dir("/proc").doing(|| "list /proc (this is measured on Linux only)".to_owned())? {
            let name = entry.doing(|| "list /proc".to_owned())?.file_name();
            if let Some((id, stat)) = name.to_string_lossy().parse().ok().and_then(|id| Some((id, Stat::read(id)?))) {
                children.entry(stat.parent).or_default().push(id);
            }
        }
        let mut members = Vec::new();
        let mut waiting = vec![ancestor];
        while let Some(id) = waiting.pop() {
            members.extend(Stat::read(id).map(|stat| Member { id, born: stat.born }));
            waiting.extend(children.remove(&id).unwrap_or_default());
        }
        Ok(Self(members))
    }

    /// The proportional set size of all together: memory that is shared counts once.
    pub(super) fn memory_in_megabytes(&self) -> f64 {
        let kilobytes: u32 = self.0.iter().filter_map(|member| proportional_kilobytes(member.id)).sum();
        f64::from(kilobytes) / 1000.0
    }

    /// How many of them still run.
    pub(super) fn alive(&self) -> usize {
        let runs = |member: &&Member| Stat::read(member.id).is_some_and(|now| now.born == member.born && !now.dead);
        self.0.iter().filter(runs).count()
    }
}

fn proportional_kilobytes(id: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The part of `/proc/ID/stat` (`proc_pid_stat(5)`) that matters here.
struct Stat {
    dead: bool,
    parent: u32,
    born: u64,
}

impl Stat {
    fn read(id: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before the last bracket may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        // Field 22, counted from 1; state is field 3.
        let born = fields.nth(17)?.parse().ok()?;
        Some(Self { dead, parent, born })
    }
}
