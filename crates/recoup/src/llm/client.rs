//! Models, asked in order until one answers: retries, limits, and exchanges on a cassette.
//!
//! Calls block; `ModelClient` is shared by threads. Nothing is opened or started before the first
//! request is sent.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use recoup_core::base::clock::{Deadline, Stopwatch};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::cassette::{Cassette, RecordedEvent, RecordedRequest, RecordedResponse};
use super::chat::{ChatMessage, ChatReply, ChatRequest, ModelName, TokenUsage};
use super::http::{AnswerPiece, ApiExchange, ApiFault, ApiFaultSort, ApiTarget, HttpTransport};
use super::sse::EventParser;
use super::wire::{AnswerEnd, ChatOptions, ModelAnswer, StreamStep, find_rejected_option};
use super::{ApiKey, BaseUrl, ModelProvider, ProxySettings};

/// Interval at which a blocked caller looks if it was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);
/// Pauses between attempts double from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Longest pause that a server may ask for; beyond it, the next model is asked.
const LONGEST_REQUESTED_PAUSE: Duration = Duration::from_mins(1);
/// Maximum number of times that a paused turn is continued.
const MAX_CONTINUATIONS: usize = 16;

/// A provider of models, and how it is reached.
#[derive(Debug, Clone)]
pub(crate) struct ProviderEndpoint {
    /// Name in the configuration.
    pub(crate) name: String,
    pub(crate) provider: ModelProvider,
    pub(crate) url: BaseUrl,
    pub(crate) key: Option<ApiKey>,
    /// Variable that the key is read from, for messages.
    pub(crate) key_env: Option<String>,
    pub(crate) proxy: Option<ProxySettings>,
}

/// Limits of one question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelCallLimits {
    /// Longest silence, before the first piece of an answer and between two.
    pub(crate) timeout: Duration,
    /// End of the whole run.
    pub(crate) deadline: Option<Deadline>,
    /// Attempts after the first, for each model.
    pub(crate) max_retries: u32,
}

/// Listener to an answer that is on its way.
pub(crate) trait ChatObserver {
    /// Takes a piece of the answer's text.
    fn text(&mut self, piece: &str);
    /// All text so far is void: the answer begins anew.
    fn restarted(&mut self);
    /// Takes a line for people.
    fn notice(&mut self, line: fmt::Arguments<'_>);
    /// True if nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool;
}

/// Client of all configured model APIs.
#[derive(Debug, Clone)]
pub(crate) struct ModelClient(Arc<ModelClientState>);

#[derive(Debug)]
struct ModelClientState {
    endpoints: Vec<ProviderEndpoint>,
    cassette: Option<Arc<Cassette>>,
    transport: HttpTransport,
    /// Options that servers have rejected.
    rejected: Mutex<BTreeMap<ModelName, Vec<&'static str>>>,
}

/// A question on its way, with what was shown of its answer.
struct PendingQuestion<'a> {
    request: &'a ChatRequest,
    limits: &'a ModelCallLimits,
    observer: &'a mut dyn ChatObserver,
    /// Text of earlier parts of the answer.
    earlier: &'a str,
    has_shown: bool,
}

impl ModelClient {
    pub(crate) fn new(endpoints: Vec<ProviderEndpoint>, cassette: Option<Arc<Cassette>>) -> Self {
        Self(Arc::new(ModelClientState {
            endpoints,
            cassette,
            transport: HttpTransport::default(),
            rejected: Mutex::default(),
        }))
    }

    /// Asks the models in order until one answers.
    pub(crate) fn ask(
        &self,
        models: &[ModelName],
        request: &ChatRequest,
        limits: &ModelCallLimits,
        observer: &mut dyn ChatObserver,
    ) -> Result<ChatReply> {
        let mut models = models.to_vec();
        let mut request = request.clone();
        let (mut blocks, mut usage, mut text) = (Vec::new(), TokenUsage::default(), String::new());
        for _ in 0..MAX_CONTINUATIONS {
            let mut question = PendingQuestion {
                request: &request,
                limits,
                observer: &mut *observer,
                earlier: &text,
                has_shown: false,
            };
            let (model, answer) = self.0.ask_models(&models, &mut question)?;
            usage += answer.usage.unwrap_or_default();
            blocks.extend(answer.blocks.iter().cloned());
            let AnswerEnd::Stop(stop) = answer.end else {
                request.messages.push(ChatMessage::Assistant(answer.blocks));
                let so_far = ChatReply { model, blocks, stop: super::StopReason::End, usage };
                text = so_far.text();
                (models, blocks) = (vec![so_far.model], so_far.blocks);
                continue;
            };
            return Ok(ChatReply { model, blocks, stop, usage });
        }
        let message = format!("the model paused its answer {MAX_CONTINUATIONS} times");
        Err(Error::new(ErrorKind::Unavailable, message))
    }
}

impl ModelClientState {
    fn ask_models(
        &self,
        models: &[ModelName],
        question: &mut PendingQuestion<'_>,
    ) -> Result<(ModelName, ModelAnswer)> {
        let options = ChatOptions { is_streamed: true, ..ChatOptions::default() };
        if let Some(cassette) = &self.cassette {
            let known = models.iter().filter_map(|model| {
                let endpoint = self.endpoint(model).ok()?;
                let (api, url) = (endpoint.provider, &endpoint.url);
                let request = api.chat_request(url, &model.model, question.request, &options);
                Some((model, api, RecordedRequest::new(api, request.body)))
            });
            let known: Vec<_> = known.collect();
            let requests: Vec<_> = known.iter().map(|(.., request)| request.clone()).collect();
            if let Some((number, response)) = cassette.find_model(&requests)? {
                let (model, api, _) = &known[number];
                let answer = question.play(*api, &response).map_err(|fault| fault.error)?;
                return Ok(((*model).clone(), answer));
            }
        }
        let mut failures: Vec<(&ModelName, Error)> = Vec::new();
        for (number, model) in models.iter().enumerate() {
            let fault = match self.ask_model(model, question) {
                Ok(answer) => return Ok((model.clone(), answer)),
                Err(fault) => fault,
            };
            if fault.sort == ApiFaultSort::Stopped {
                return Err(fault.error);
            }
            if let Some(next) = models.get(number + 1) {
                let error = &fault.error;
                question.observer.notice(format_args!("{model}: {error}; asking {next}"));
                question.restart();
            }
            failures.push((model, fault.error));
        }
        if failures.len() < 2 {
            let none = || Error::usage("no model is named");
            return Err(failures
                .pop()
                .map_or_else(none, |(model, error)| error.context(model.to_string())));
        }
        let is_usage = failures.iter().all(|(_, error)| error.kind() == ErrorKind::Usage);
        let kind = if is_usage { ErrorKind::Usage } else { ErrorKind::Unavailable };
        let failures = failures.iter().map(|(model, error)| format!("{model}: {error}"));
        let failures: Vec<String> = failures.collect();
        Err(Error::new(kind, format!("no model answered: {}", failures.join("; "))))
    }

    fn endpoint(&self, model: &ModelName) -> Result<&ProviderEndpoint> {
        let known = self.endpoints.iter().find(|endpoint| endpoint.name == model.provider);
        known.ok_or_else(|| {
            let names: Vec<&str> = self.endpoints.iter().map(|it| it.name.as_str()).collect();
            let (provider, names) = (&model.provider, names.join(", "));
            Error::usage(format!("unknown provider {provider:?}: expected one of {names}"))
        })
    }

    /// Asks one model, again and again within the limits.
    fn ask_model(
        &self,
        model: &ModelName,
        question: &mut PendingQuestion<'_>,
    ) -> Result<ModelAnswer, ApiFault> {
        let unusable =
            |error| ApiFault { sort: ApiFaultSort::Lasting, error, may_have_cost: false };
        let endpoint = self.endpoint(model).map_err(unusable)?;
        if let Some(variable) = &endpoint.key_env
            && endpoint.key.is_none()
            && !endpoint.url.is_loopback()
        {
            return Err(unusable(Error::usage(format!("no API key in {variable}"))));
        }
        let ProviderEndpoint { provider, url, name, .. } = endpoint;
        let build = |rejected: &[&'static str]| {
            let options = ChatOptions { is_streamed: true, forced_tool: None, rejected };
            provider.chat_request(url, &model.model, question.request, &options)
        };
        let meant = build(&[]);
        let url_setting = format!("providers.{name}.base_url");
        let target = ApiTarget {
            url,
            key: endpoint.key.as_ref(),
            proxy: endpoint.proxy.as_ref(),
            url_setting: &url_setting,
        };
        let mut retries = 0;
        loop {
            question.check_stopped()?;
            let rejected = self.rejected.lock().get(model).cloned().unwrap_or_default();
            let request = build(&rejected);
            let exchange = self.transport.post(target, &request);
            let fault = match exchange
                .and_then(|it| question.receive(*provider, &url.host_and_port(), it))
            {
                Ok((answer, response)) => {
                    if let Some(cassette) = &self.cassette {
                        let mut meant = RecordedRequest::new(*provider, meant.body);
                        meant.rejected = rejected.iter().map(|it| (*it).to_owned()).collect();
                        // The answer is paid for, and stays one.
                        if let Err(error) = cassette.keep_model(meant, response, &answer.blocks) {
                            question.observer.notice(format_args!("not recorded: {error}"));
                        }
                    }
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            match &fault.sort {
                ApiFaultSort::Rejected(said) => {
                    let Some(option) = find_rejected_option(&request, said) else {
                        return Err(fault);
                    };
                    let line = format_args!("{model} does not take {option}: asking without it");
                    question.observer.notice(line);
                    let mut all = self.rejected.lock();
                    let known = all.entry(model.clone()).or_default();
                    // Another thread may have been told the same.
                    if *known == rejected {
                        known.push(option);
                    }
                }
                ApiFaultSort::Passing(wait) if retries < question.limits.max_retries => {
                    let Some(pause) = question.pause_before_retry(retries, *wait) else {
                        return Err(fault);
                    };
                    retries += 1;
                    let (error, most) = (&fault.error, question.limits.max_retries);
                    question.observer.notice(format_args!(
                        "{model}: {error}; attempt {} of {} in {:.1} s",
                        retries + 1,
                        most + 1,
                        pause.as_secs_f64()
                    ));
                    question.restart();
                    let pause = Deadline::after(pause);
                    while !pause.has_passed() {
                        question.check_stopped()?;
                        thread::sleep(pause.remaining().min(CANCEL_INTERVAL));
                    }
                }
                _ => return Err(fault),
            }
        }
    }
}

impl PendingQuestion<'_> {
    fn show(&mut self, piece: &str) {
        self.has_shown = true;
        self.observer.text(piece);
    }

    /// Takes back what was shown of an answer that is void.
    fn restart(&mut self) {
        if std::mem::take(&mut self.has_shown) {
            self.observer.restarted();
            if !self.earlier.is_empty() {
                self.observer.text(self.earlier);
            }
        }
    }

    fn check_stopped(&self) -> Result<(), ApiFault> {
        let message = if self.observer.is_cancelled() {
            "cancelled"
        } else if self.limits.deadline.is_some_and(Deadline::has_passed) {
            "the time limit of the run was reached"
        } else {
            return Ok(());
        };
        let error = Error::new(ErrorKind::Unavailable, message);
        Err(ApiFault { sort: ApiFaultSort::Stopped, error, may_have_cost: true })
    }

    /// Pause before the next attempt; none if it would be too long.
    fn pause_before_retry(&self, retries: u32, wait: Option<u64>) -> Option<Duration> {
        let (pause, most) = if let Some(wait) = wait {
            (Duration::from_millis(wait), LONGEST_REQUESTED_PAUSE)
        } else {
            let full = FIRST_PAUSE.saturating_mul(1 << retries.min(16)).min(LONGEST_PAUSE);
            // By chance, so that those who were refused together do not come back together.
            (full.mul_f64(0.5 + fastrand::f64() / 2.0), LONGEST_PAUSE)
        };
        let left = self.limits.deadline.map_or(Duration::MAX, Deadline::remaining);
        (pause <= most.min(left)).then_some(pause)
    }

    /// Receives an answer to its end, and shows it as it comes.
    fn receive(
        &mut self,
        api: ModelProvider,
        host: &str,
        exchange: ApiExchange,
    ) -> Result<(ModelAnswer, RecordedResponse), ApiFault> {
        let clock = Stopwatch::start();
        let (mut parser, mut stream) = (EventParser::default(), api.answer_stream());
        let mut response = RecordedResponse { status: 200, ..RecordedResponse::default() };
        loop {
            let bytes = match self.next_piece(host, &exchange)? {
                AnswerPiece::Stream(bytes) => bytes,
                AnswerPiece::Whole(body) => {
                    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
                    response.body = Some(body);
                    return Ok((self.play(api, &response)?, response));
                }
                AnswerPiece::End => {
                    let message = "the model's answer was cut off";
                    let error = Error::new(ErrorKind::Unavailable, message);
                    return Err(ApiFault::passing(error, true));
                }
            };
            for event in parser.push(&bytes) {
                let data = String::from_utf8_lossy(&event.data).into_owned();
                let step = stream.push(&data)?;
                let ms = u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX);
                response.events.push(RecordedEvent { ms, event: event.name, data });
                match step {
                    StreamStep::Nothing => {}
                    StreamStep::Text(piece) => self.show(&piece),
                    StreamStep::Complete(body) => {
                        exchange.finish();
                        return Ok((api.read_answer(&body)?, response));
                    }
                }
            }
        }
    }

    /// Waits for a piece, within all limits.
    fn next_piece(&self, host: &str, exchange: &ApiExchange) -> Result<AnswerPiece, ApiFault> {
        let silence = Deadline::after(self.limits.timeout);
        loop {
            self.check_stopped()?;
            let left = self.limits.deadline.map_or(Duration::MAX, Deadline::remaining);
            let wait = CANCEL_INTERVAL.min(silence.remaining()).min(left);
            if let Some(piece) = exchange.next(wait) {
                return piece;
            }
            if silence.has_passed() {
                let limit = self.limits.timeout.as_millis();
                let message = format!("{host} sent nothing for {limit} ms");
                let error = Error::new(ErrorKind::Unavailable, message);
                return Err(ApiFault::passing(error, true));
            }
        }
    }

    /// Plays a recorded answer, with the pieces of text in which it came.
    fn play(
        &mut self,
        api: ModelProvider,
        response: &RecordedResponse,
    ) -> Result<ModelAnswer, ApiFault> {
        if let Some(body) = &response.body {
            let answer = api.read_answer(body)?;
            for block in &answer.blocks {
                if let super::ReplyBlock::Text { text } = block {
                    self.show(text);
                }
            }
            return Ok(answer);
        }
        let mut stream = api.answer_stream();
        for event in &response.events {
            match stream.push(&event.data)? {
                StreamStep::Nothing => {}
                StreamStep::Text(piece) => self.show(&piece),
                StreamStep::Complete(body) => return api.read_answer(&body),
            }
        }
        Err(ApiFault::invalid("the recorded answer is not complete"))
    }
}
