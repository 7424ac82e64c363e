//! The cache of tools' results: [`look_up_result`] before a tool is called, and [`keep_result`] after
//! it. Nothing else of an agent's run reads or writes results.

use std::time::Duration;

use recoup_core::base::clock::Stopwatch;
use recoup_core::cache::WaitPolicy;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::value::RawValue;

use super::OngoingCall;
use crate::mcp_client::RpcAnswer;
use crate::toolbox::{
    CachedCall, CallEnd, CallRoute, CallTicket, IDENTICAL_CALL_WAIT, ToolCache, ToolOutcome,
    ToolPermit,
};

/// How long a call waits until the store has dropped what it made stale.
const UPKEEP_LIMIT: Duration = Duration::from_secs(1);

/// Result of a look-up.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for a call")]
pub(super) enum ResultLookup {
    Hit(Box<RawValue>),
    /// The tool is called.
    Call(MissedCall),
}

/// A call without a cached result, from its beginning to its end.
#[derive(Debug)]
pub(super) struct MissedCall {
    ticket: CallTicket,
    /// Permission to keep the result; none if it is not cached.
    permit: Option<(CachedCall, ToolPermit)>,
    began: Stopwatch,
}

/// Looks up the result of a call. While an identical call runs, this waits for its result. An error
/// of kind `Absent` if only cached results are wanted, and there is none.
pub(super) fn look_up_result(cache: &ToolCache, call: &OngoingCall<'_>) -> Result<ResultLookup> {
    let plan = cache.plan("tools/call", Some(call.params));
    let mut permit = None;
    if let CallRoute::Cached(cached) = plan.route {
        let wait = IDENTICAL_CALL_WAIT.wait.map(|wait| wait.min(call.timeout));
        match cached.lookup(None, WaitPolicy { wait, ..IDENTICAL_CALL_WAIT })? {
            ToolOutcome::Hit(served) => {
                let result = RawValue::from_string(served.as_json().to_owned());
                let result = result.map_err(|error| {
                    Error::new(ErrorKind::Corrupt, "a cached result").with_source(error)
                })?;
                cache.finished(plan.ticket, &CallEnd::Hit(&served));
                return Ok(ResultLookup::Hit(result));
            }
            ToolOutcome::Miss(allowed) => permit = Some((cached, allowed)),
            ToolOutcome::Bypass => {}
        }
    }
    let began = Stopwatch::start();
    Ok(ResultLookup::Call(MissedCall { ticket: plan.ticket, permit, began }))
}

/// Keeps the result of a call if it is one that may be kept, and returns it. A call that has failed is
/// logged, and its error returned.
pub(super) fn keep_result(
    cache: &ToolCache,
    missed: MissedCall,
    call: &OngoingCall<'_>,
    asked: Result<RpcAnswer>,
) -> Result<Box<RawValue>> {
    let MissedCall { ticket, permit, began } = missed;
    let took = began.elapsed();
    let failed = match asked {
        Ok(RpcAnswer::Result(result)) => {
            if let Some((cached, permit)) = permit {
                cached.store(permit, &result, took);
            }
            cache.finished(ticket, &CallEnd::Answered { result: &result, took });
            // The agent may read at once what it has written, and the run may end.
            cache.await_upkeep(UPKEEP_LIMIT);
            return Ok(result);
        }
        Ok(RpcAnswer::Error { code, message }) => {
            Error::new(ErrorKind::Unavailable, format!("{message} (code {code})"))
        }
        Err(error) => error,
    };
    if let Some((_, permit)) = permit {
        permit.release();
    }
    let end = if (call.is_cancelled)() {
        CallEnd::Cancelled
    } else {
        CallEnd::Failed { bytes: failed.message().len(), took }
    };
    cache.finished(ticket, &end);
    // It may have written before it failed.
    cache.await_upkeep(UPKEEP_LIMIT);
    Err(failed)
}
