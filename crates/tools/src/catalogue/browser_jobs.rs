//! Loads in the background: lists them, waits for them, cancels them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::answer::Text;
use crate::jobs::{self, JobView};
use crate::owner::Control;
use crate::tool::{About, Common, ControlTool, Effect, Output, Tool};

struct Jobs;

inventory::submit!(Tool::beside_sessions::<Jobs>());

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Params {
    job_id: Option<String>,
    action: Option<Action>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Status,
    Wait,
    Cancel,
}

#[derive(Serialize, JsonSchema)]
struct Listing {
    jobs: Vec<JobView>,
}

impl ControlTool for Jobs {
    const ABOUT: About = About {
        name: "browser_jobs",
        aliases: &[],
        title: "Loads in the background",
        description: "Lists loads in the background, tells how one stands, waits for one or all, or cancels one.",
        effect: Effect::Control,
        idempotent: true,
        verb: "jobs",
        example: r#"{"jobId": "job-1", "action": "wait"}"#,
        everyday: false,
        common: Common::Whole,
    };
    type Params = Params;
    type Output = Listing;

    async fn run(mut control: Control, params: Params) -> Result<Listing, Failure> {
        let (owners, budget, available) = control.jobs();
        if !available {
            return Err(jobs::unavailable());
        }
        let owners = owners.clone();
        let listed = owners.list(control.named());
        if listed.is_empty() && control.named().is_some() {
            // A name that no session has is told.
            control.list().await?;
            return Ok(Listing { jobs: listed });
        }
        control.leave_line();
        let session = control.named();
        let named = |what: &str| {
            let missing = || Failure::invalid(format_args!("`jobId` is missing: which job to {what}"));
            params.job_id.as_deref().ok_or_else(missing)
        };
        let jobs = match (params.action, params.job_id.as_deref()) {
            (Some(Action::Cancel), _) => vec![owners.cancel(named("cancel")?, budget).await?],
            (Some(Action::Wait), Some(id)) => {
                owners.get(id)?;
                owners.wait(&[id.to_owned()], budget).await?;
                vec![owners.get(id)?]
            }
            (Some(Action::Wait), None) => {
                let ids: Vec<_> = listed.into_iter().map(|job| job.job_id).collect();
                owners.wait(&ids, budget).await?;
                owners.list(session)
            }
            (Some(Action::Status), _) => vec![owners.get(named("look at")?)?],
            (None, Some(id)) => vec![owners.get(id)?],
            (Some(Action::List) | None, _) => listed,
        };
        Ok(Listing { jobs })
    }
}

impl Output for Listing {
    fn write(&self, text: &mut Text) {
        if self.jobs.is_empty() {
            text.remark("nothing was loaded in the background");
        }
        for job in &self.jobs {
            job.write(text);
        }
    }
}
