//! Refused calls of connected programs, until they are stored in the log of accounts.

use searchwright_contract::{Code, Meta, Problem};
use searchwright_identity::denials::Denial;

use crate::{Engine, call::Credential};

impl Engine {
    /// Records a call that a token may not make.
    pub fn record_denial(&self, meta: &Meta, credential: &Credential, problem: &Problem) {
        let Credential::Token(token) = credential else {
            return;
        };
        let code = problem.code;
        let is_denial = matches!(
            code,
            Code::ProjectForbidden
                | Code::InsufficientScope
                | Code::InsufficientRole
                | Code::AgentAutonomyRequired
        );
        if is_denial {
            let denial = Denial {
                user: token.user,
                client: token.client.clone(),
                detail: format!("{} {}", code.as_str(), meta.name),
            };
            self.denials.record(denial, self.clock.now());
        }
    }
}
