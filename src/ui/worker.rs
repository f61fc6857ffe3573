//! The worker: the same module, started a second time off the main thread, in which
//! [`Calculator`] answers. The CPU engine has one of its own. A worker that stops is started again
//! with what it held. Where no worker can be had (an old browser, a strict host page) the calculator
//! answers on the main thread, slower but with the same numbers.

mod message;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use futures_channel::oneshot;
use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::{set_timeout, window};
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Worker;
use web_sys::{Blob as JsBlob, BlobPropertyBag, MessageEvent, Url};

use self::message::{post, read};
use super::calc::{Answer, Ask, Blob, Calculator, KEPT_LAYERS};
use crate::build_files;
use attnscope_engine::recovery::Restarts;

pub use self::message::{answer_with, serve};

/// A worker says at once that it has begun, before it fetches anything.
const BEGIN: Duration = Duration::from_secs(10);

type Reply = (Answer, Vec<Blob>);

/// The page's side of the calculator.
#[derive(Clone, Default)]
pub struct Client {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Default)]
struct Inner {
    /// The module that answers in the worker: "" is this one.
    module: &'static str,
    state: State,
    next: u32,
    open: Vec<Open>,
    /// Layers that the calculator keeps, for the one that comes after it.
    held: VecDeque<Question>,
    /// Workers that have stopped: what one of them still tells is let go.
    gone: u32,
    restarts: Restarts,
    /// Since when there is a worker.
    since: f64,
    /// Whether the present worker has said anything.
    begun: bool,
    /// Whether a worker has ever answered.
    has_run: bool,
    /// Who hears why no worker is started any more.
    told: Option<Rc<dyn Fn(String)>>,
    /// Who hears that the CPU engine's worker has stopped and may be started again.
    stopped: Option<Rc<dyn Fn()>>,
}

/// A question that has its number.
#[derive(Clone)]
struct Question {
    number: u32,
    ask: Ask,
    blobs: Vec<Rc<Blob>>,
}

/// Who waits for an answer.
struct Open {
    number: u32,
    sender: oneshot::Sender<Reply>,
    /// What is asked again of the next worker, when this one stops.
    again: Option<Question>,
}

enum State {
    /// Not started: what can wait waits until [`Client::release`] or until something cannot.
    Idle(VecDeque<Question>),
    /// Started, not yet answering: what was asked waits.
    Starting {
        worker: Handle,
        waiting: VecDeque<Question>,
    },
    /// Answering.
    Running(Handle),
    /// No worker to be had: the calculator is here.
    Here(Box<Calculator>),
    /// It has stopped too often, and why it did the last time.
    GivenUp(String),
}

impl Default for State {
    fn default() -> Self {
        Self::Idle(VecDeque::new())
    }
}

struct Handle {
    worker: Worker,
    _heard: Closure<dyn FnMut(MessageEvent)>,
    _failed: Closure<dyn FnMut(web_sys::Event)>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.set_onmessageerror(None);
        self.worker.terminate();
    }
}

impl Inner {
    /// Who waits for the answer `number`, who then no longer waits.
    fn take(&mut self, number: u32) -> Option<oneshot::Sender<Reply>> {
        let at = self.open.iter().position(|open| open.number == number)?;
        Some(self.open.swap_remove(at).sender)
    }

    /// What the next worker is asked: the layers, then what has no answer yet, in its order.
    fn left(&self) -> VecDeque<Question> {
        let mut left = self.held.clone();
        let mut open: Vec<_> = (self.open.iter())
            .filter_map(|open| open.again.clone())
            .filter(|question| !matches!(question.ask, Ask::Layer { .. }))
            .collect();
        open.sort_by_key(|question| question.number);
        left.extend(open);
        left
    }
}

impl Client {
    /// The page's side of the calculator; `told` hears why it is not started any more.
    pub fn of_calculator(told: impl Fn(String) + 'static) -> Self {
        let client = Self::default();
        client.inner.borrow_mut().told = Some(Rc::new(told));
        client
    }

    /// The page's side of the CPU engine, which is a module of its own.
    pub fn of_painter() -> Self {
        let client = Self::default();
        client.inner.borrow_mut().module = "cpu";
        client
    }

    /// `act` runs when the worker has stopped and the next question starts another.
    pub fn on_stop(&self, act: impl Fn() + 'static) {
        self.inner.borrow_mut().stopped = Some(Rc::new(act));
    }

    /// How many workers have stopped: with each of them goes what it was told.
    pub fn gone(&self) -> u32 {
        self.inner.borrow().gone
    }

    /// Whether no worker is started any more.
    pub fn has_given_up(&self) -> bool {
        matches!(self.inner.borrow().state, State::GivenUp(_))
    }

    /// Asks the calculator; the answer comes whenever it is there.
    pub async fn ask(&self, ask: Ask, blobs: Vec<Rc<Blob>>) -> Reply {
        self.release();
        self.ask_later(ask, blobs).await
    }

    /// The same, but before the first picture is there the question waits: starting the worker
    /// takes time that the picture needs.
    pub async fn ask_later(&self, ask: Ask, blobs: Vec<Rc<Blob>>) -> Reply {
        let (sender, receiver) = oneshot::channel();
        let question = {
            let mut inner = self.inner.borrow_mut();
            inner.next = inner.next.wrapping_add(1);
            let question = Question {
                number: inner.next,
                ask,
                blobs,
            };
            // The CPU engine's page knows itself what to send again.
            let again = inner.module.is_empty().then(|| question.clone());
            if let (Some(question), Ask::Layer { .. }) = (&again, &question.ask) {
                inner.held.push_back(question.clone());
                if inner.held.len() > KEPT_LAYERS {
                    inner.held.pop_front();
                }
            }
            inner.open.push(Open {
                number: question.number,
                sender,
                again,
            });
            question
        };
        self.deliver(question);
        receiver
            .await
            .unwrap_or((Answer::Failed("the worker is gone".into()), Vec::new()))
    }

    /// Starts the worker, if that has not happened yet.
    pub fn release(&self) {
        let waiting = match &mut self.inner.borrow_mut().state {
            State::Idle(waiting) => std::mem::take(waiting),
            _ => return,
        };
        self.begin(waiting);
    }

    /// Starts the worker again that has stopped too often.
    pub fn restart(&self) {
        if self.has_given_up() {
            let mut inner = self.inner.borrow_mut();
            inner.restarts = Restarts::default();
            let left = inner.left();
            drop(inner);
            self.begin(left);
        }
    }

    /// Ends the worker; what is open stays without an answer of its own.
    pub fn close(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.gone += 1;
        let ended = (
            std::mem::take(&mut inner.state),
            std::mem::take(&mut inner.open),
        );
        drop(inner);
        drop(ended);
    }

    /// Starts a worker that will be asked these questions.
    fn begin(&self, waiting: VecDeque<Question>) {
        match self.start() {
            Ok(worker) => {
                let mut inner = self.inner.borrow_mut();
                (inner.since, inner.begun) = (now(), false);
                inner.state = State::Starting { worker, waiting };
                let (client, serial) = (self.clone(), inner.gone);
                let mute = move || {
                    if !client.inner.borrow().begun {
                        client.stopped(serial, None);
                    }
                };
                set_timeout(mute, BEGIN);
            }
            Err(why) => self.without_worker(waiting, why_of(message_of(&why))),
        }
    }

    fn deliver(&self, question: Question) {
        let mut inner = self.inner.borrow_mut();
        match &mut inner.state {
            State::Idle(waiting) | State::Starting { waiting, .. } => waiting.push_back(question),
            State::Running(handle) => {
                let Question { number, ask, blobs } = question;
                let send = |m: &_, t: &_| handle.worker.post_message_with_transfer(m, t);
                if post(send, number, &ask.to_text(), &blobs).is_err() {
                    inner.take(number);
                }
            }
            State::Here(_) => {
                drop(inner);
                self.answer_here(question);
            }
            State::GivenUp(why) => {
                let why = why.clone();
                if let Some(sender) = inner.take(question.number) {
                    // A receiver that is gone has no use for the answer.
                    let _ = sender.send((Answer::Failed(why), Vec::new()));
                }
            }
        }
    }

    /// Answers on this thread, after the event at hand.
    fn answer_here(&self, question: Question) {
        let client = self.clone();
        spawn_local(async move {
            let mut inner = client.inner.borrow_mut();
            let State::Here(calculator) = &mut inner.state else {
                return;
            };
            let reply = calculator.answer(&question.ask, &question.blobs);
            if let Some(sender) = inner.take(question.number) {
                // A receiver that is gone has no use for the answer.
                let _ = sender.send(reply);
            }
        });
    }

    /// The calculator can be here; the CPU engine's module is not.
    fn without_worker(&self, waiting: VecDeque<Question>, why: String) {
        if self.inner.borrow().module.is_empty() {
            self.inner.borrow_mut().state = State::Here(Box::default());
            for question in waiting {
                self.deliver(question);
            }
        } else {
            self.give_up(why);
        }
    }

    fn give_up(&self, why: String) {
        let mut inner = self.inner.borrow_mut();
        inner.state = State::GivenUp(why.clone());
        let (open, told) = (std::mem::take(&mut inner.open), inner.told.clone());
        drop(inner);
        for open in open {
            // A receiver that is gone has no use for the answer.
            let _ = open.sender.send((Answer::Failed(why.clone()), Vec::new()));
        }
        if let Some(told) = told {
            told(why);
        }
    }

    fn start(&self) -> Result<Handle, JsValue> {
        let name = self.inner.borrow().module;
        // Another module fetches itself.
        let (glue, module) = if name.is_empty() {
            let module = Reflect::get(&js_sys::global(), &"attnscopeModule".into())?;
            if module.is_undefined() {
                return Err("the module was not handed over".into());
            }
            ("attnscope", module)
        } else {
            (name, JsValue::UNDEFINED)
        };
        let glue = build_files::address(&format!("{glue}.js"))?;
        // A blob, because in a sandboxed frame no script of any address is of the same origin; a
        // classic worker with import(), because there Chromium fails module workers from blobs. A
        // failed import is thrown again where the page hears of it. Of a worker that is ended from
        // outside no event tells: its lock does, where there are locks.
        let script = format!(
            "onmessage = (e) => {{ onmessage = null; postMessage('begun'); navigator.locks?.request(location.href, () => {{ postMessage('held'); return new Promise(() => {{}}); }}).catch(() => {{}}); import({}).then((glue) => glue.default({{ module_or_path: e.data }})).catch((e) => setTimeout(() => {{ throw e; }})); }};",
            js_sys::JSON::stringify(&glue.into())?
        );
        let options = BlobPropertyBag::new();
        options.set_type("text/javascript");
        let blob =
            JsBlob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options)?;
        let address = Url::create_object_url_with_blob(&blob)?;
        let worker = Worker::new(&address)?;
        let (client, serial) = (self.clone(), self.gone());
        let heard = Closure::new(move |event: MessageEvent| {
            client.hear(&event, &address, serial);
        });
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        let client = self.clone();
        let failed = Closure::new(move |event: web_sys::Event| {
            client.stopped(serial, message_of(&event));
        });
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        worker.set_onmessageerror(Some(failed.as_ref().unchecked_ref()));
        worker.post_message(&module)?;
        Ok(Handle {
            worker,
            _heard: heard,
            _failed: failed,
        })
    }

    fn hear(&self, event: &MessageEvent, lock: &str, serial: u32) {
        self.inner.borrow_mut().begun = true;
        let Some((number, message, blobs)) = read(event) else {
            match event.data().as_string().as_deref() {
                Some("ready") => self.running(),
                Some("held") => self.watch(lock, serial),
                _ => {}
            }
            return;
        };
        let answer = Answer::from_text(&message)
            .unwrap_or_else(|| Answer::Failed("not understood".to_owned()));
        if let Some(sender) = self.inner.borrow_mut().take(number) {
            let _ = sender.send((answer, blobs));
        }
    }

    /// The worker said that it is there.
    fn running(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.has_run = true;
        if let State::Starting { worker, waiting } = std::mem::take(&mut inner.state) {
            inner.state = State::Running(worker);
            drop(inner);
            for question in waiting {
                self.deliver(question);
            }
        }
    }

    /// Waits for the lock that worker number `serial` holds as long as it is there.
    fn watch(&self, lock: &str, serial: u32) {
        let client = self.clone();
        let granted = Closure::once_into_js(move || client.stopped(serial, None));
        let request = || {
            let locks = Reflect::get(&window().navigator(), &"locks".into())?;
            let request: Function = Reflect::get(&locks, &"request".into())?.dyn_into()?;
            let promise = request.call2(&locks, &lock.into(), &granted)?;
            promise.dyn_into::<Promise>()
        };
        if let Ok(promise) = request() {
            // A page that may wait for no lock hears of errors all the same.
            spawn_local(async move {
                let _ = JsFuture::from(promise).await;
            });
        }
    }

    /// Worker number `serial` could not start, or stopped, in its own words. The next one gets what it
    /// held and what it has not answered; the CPU engine's page is told, and sends its Frame again.
    fn stopped(&self, serial: u32, why: Option<String>) {
        let mut inner = self.inner.borrow_mut();
        if inner.gone != serial {
            return;
        }
        inner.gone += 1;
        let ran = now() - inner.since;
        let again = inner.restarts.stopped(ran);
        let (old, calculates) = (std::mem::take(&mut inner.state), inner.module.is_empty());
        let (left, has_run) = (inner.left(), inner.has_run);
        let lost = if again && !calculates {
            std::mem::take(&mut inner.open)
        } else {
            Vec::new()
        };
        drop(inner);
        drop(old);
        let why = why_of(why);
        match (again, calculates) {
            (true, true) => self.begin(left),
            // It is started by the next question.
            (true, false) => {
                drop(lost);
                let stopped = self.inner.borrow().stopped.clone();
                if let Some(stopped) = stopped {
                    stopped();
                }
            }
            (false, true) if !has_run => self.without_worker(left, why),
            (false, _) => self.give_up(why),
        }
    }
}

fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// The reason as it is said.
fn why_of(message: Option<String>) -> String {
    message.unwrap_or_else(|| "no reason was given".to_owned())
}

/// What an error or an event says of itself, if anything.
fn message_of(what: &JsValue) -> Option<String> {
    let message = Reflect::get(what, &"message".into()).ok()?;
    message.as_string().filter(|text| !text.is_empty())
}
