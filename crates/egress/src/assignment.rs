//! Whose a door is: a label for the ledger, a policy, and everything that lives under the two.

use std::net::IpAddr;
use std::sync::Arc;

use bathy_policy::{CheckedAddress, Host, Policy, Purpose, Refusal};
use tokio_util::sync::CancellationToken;

use crate::failure::{Code, Failure};
use crate::limits::Limits;
use crate::pool::Pool;

/// One label and policy of a door. A connection belongs to one assignment for life; when the door gets another, what
/// lived under the old one ends.
pub(crate) struct Assignment {
    pub(crate) label: Arc<str>,
    pub(crate) policy: Option<Policy>,
    pub(crate) pool: Pool,
    pub(crate) ended: CancellationToken,
}

impl Assignment {
    /// Without a policy everything is refused.
    pub(crate) fn new(label: Arc<str>, policy: Option<Policy>, limits: &Limits, door: &CancellationToken) -> Self {
        let pool = Pool::new(limits.pooled, limits.pooled_timeout);
        Self { label, policy, pool, ended: door.child_token() }
    }

    /// What can be said before any name is resolved.
    pub(crate) fn check_authority(&self, host: &Host, port: u16) -> Result<(), Failure> {
        // The gate cannot tell a document from what it loads, so it asks for the wider of the two.
        self.policy()?
            .check_authority(host, port, Purpose::Resource)
            .map(drop)
            .map_err(|refusal| refused(&refusal, port))
    }

    /// What can be said of the answer: one bad address refuses the host.
    pub(crate) fn check_addresses(
        &self,
        host: &Host,
        port: u16,
        addresses: &[IpAddr],
    ) -> Result<Vec<CheckedAddress>, Failure> {
        self.policy()?
            .check_addresses(host, port, addresses, Purpose::Resource)
            .map_err(|refusal| refused(&refusal, port))
    }

    fn policy(&self) -> Result<&Policy, Failure> {
        self.policy.as_ref().ok_or_else(|| {
            Failure::new(Code::NoSession, "this address of the gate belongs to no session, so it refuses everything")
        })
    }
}

fn refused(refusal: &Refusal, port: u16) -> Failure {
    let failure = Failure::new(refusal.into(), refusal);
    match refusal {
        Refusal::PrivateAddress { address, .. } | Refusal::ForeignAddress { address, .. } => {
            failure.at((*address, port).into())
        }
        _ => failure,
    }
}
